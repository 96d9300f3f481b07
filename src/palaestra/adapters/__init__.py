"""Games of other libraries as games of ours, and ours inside other libraries.

`openspiel:NAME` and `pgx:NAME` are games wherever a game's id is accepted; PettingZoo, Gymnasium and OpenSpiel are
given our games and players. Every library is imported where it is first needed, so that none has to be there.
"""
