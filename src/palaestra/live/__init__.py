"""What is going on: games, analyses, matches, tournaments and runs, as objects with JSON documents.

The terminal, notebooks and whatever else shows them stand above. Nothing here knows a terminal or a browser, and
importing this package loads nothing.
"""
