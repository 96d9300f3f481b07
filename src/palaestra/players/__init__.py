"""Everything that can choose a move, made from a short text."""
