"""Palaestra as an engine in other programs: GTP and UCI, over stdin and stdout.

What is played and analysed are objects of `palaestra.live`; here they are only put into a protocol's words. The way
round, other programs as players, is `palaestra.players.engines`.
"""
