"""Learning by self-play: games, examples, training, gate, warm start, and the loop that joins them."""
