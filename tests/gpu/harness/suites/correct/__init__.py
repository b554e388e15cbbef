"""Whether programs run as they do natively, and give the same results."""
