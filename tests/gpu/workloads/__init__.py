"""Trainings that the suites measure. They know nothing of Tessera: each is an ordinary PyTorch program."""
