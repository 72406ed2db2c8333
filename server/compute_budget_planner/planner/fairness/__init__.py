"""Comparisons of runs: their sides, and what makes them unfair."""
