"""Families of networks, one file each: how a name is read, and the plan of the network for a game.

To add one: a file here with a class like `ResidualNet`, and a line in `FAMILIES` of `palaestra.nets.architecture`.
"""
