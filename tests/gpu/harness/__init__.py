"""Suites for a machine with an NVIDIA GPU: they measure Tessera against native execution, in the same run.

Python's standard library only. The workloads, which need PyTorch, are separate programs.
"""
