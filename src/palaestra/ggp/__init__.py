"""General game playing: games given by their rules in GDL, as text.

In order of dependence: `terms` (data), `kif` (text to terms), `check` (the laws of the language), `rules` (terms to
rules), then machines that play by them, games for the registry, and the match protocol.
"""
