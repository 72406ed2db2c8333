"""The budget: its plan, its jobs, its totals, what is stored and what is kept out."""
