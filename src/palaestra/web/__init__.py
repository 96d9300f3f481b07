"""The page: play, analyse, watch and compare in a browser.

It shows what `live` and `runs` hold and decides nothing about games, players or runs itself. Needs the extra `web`.
"""
