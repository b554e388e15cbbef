"""Tests of the harness; run them with tests/gpu/selftest."""
