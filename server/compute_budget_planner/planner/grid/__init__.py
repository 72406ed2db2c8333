"""Compute-optimal grids: budgets, cells, what they cost, their picture."""
