"""`python -m compute_budget_planner` is the command line."""

from compute_budget_planner.cli import main

main(prog_name="compute-budget-planner")
