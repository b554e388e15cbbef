"""Memory: more than there is, moves, checkpoints, and what programs ask for."""
