"""Tests of the suites, from the first step to the tables, on stand-ins."""
