"""What a run leaves behind: its folder, and the manifest that names every file in it that counts.

Written and read here and nowhere else. Knows no player and no learning.
"""
