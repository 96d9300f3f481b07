"""Searches over batches of games; none of them knows a game's rules or a network."""
