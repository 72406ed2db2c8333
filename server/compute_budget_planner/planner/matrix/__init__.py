"""The ablation matrix: its rows, what each costs, what is required."""
