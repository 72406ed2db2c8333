"""The options of the command line, one for every argument a tool can take.

Named after the fields of the request models; what their texts mean stands in `option_parsing`.
"""

from collections.abc import Callable, Mapping

import click

from compute_budget_planner import option_parsing

PARAMETERS: Mapping[str, Callable[[], click.Parameter]] = {
    "files": lambda: click.Argument(["files"], nargs=-1, metavar="[FILES]..."),
    "facts": lambda: click.Option(
        ["--fact", "facts"],
        type=option_parsing.fact,
        metavar="NAME=VALUE",
        multiple=True,
        help="A fact, such as gpu=A100-SXM-80GB; wins over every file, null withdraws a file's "
        "value. Repeatable.",
    ),
    "run": lambda: click.Option(["--run"], help="Name of the run when the files describe several."),
    "runs": lambda: click.Option(
        ["--run", "runs"], multiple=True, help="Name of a main run; all when absent. Repeatable."
    ),
    "measured_runs": lambda: click.Option(
        ["--measured", "measured_runs"],
        type=option_parsing.measured_run,
        metavar="PATH[,PATH...][,NAME=VALUE...]",
        multiple=True,
        help="An earlier run to calibrate against: its logs and configs, and facts such as "
        "n_gpus=4, separated by commas. Repeatable.",
    ),
    "from_budget": lambda: click.Option(
        ["--from-budget"], is_flag=True, help="Start from the inputs stored in the budget."
    ),
    "baseline": lambda: click.Option(
        ["--baseline"], help="Name of the run the ablation baseline is made from."
    ),
    "variants": lambda: click.Option(
        ["--variant", "variants"],
        type=option_parsing.variant,
        metavar="NAME[:FACT=VALUE,...]",
        multiple=True,
        help="A variant of the ablation matrix: the facts it changes, and multiplier, seeds, "
        "tuning_trials, priority or claim, such as 'half-depth:n_layers=6,seeds=3'. Repeatable.",
    ),
    "required_seeds": lambda: click.Option(
        ["--required-seeds"], type=int, help="Seeds the claims need; the plan's when absent."
    ),
    "budgets_flops": lambda: click.Option(
        ["--budget-flops", "budgets_flops"],
        type=float,
        multiple=True,
        help="A training budget in FLOPs, such as 1e20. Repeatable.",
    ),
    "budgets_gpu_hours": lambda: click.Option(
        ["--budget-gpu-hours", "budgets_gpu_hours"],
        type=float,
        multiple=True,
        help="A training budget in GPU-hours. Repeatable.",
    ),
    "around": lambda: click.Option(
        ["--around"],
        type=click.Choice(["optimum", "model"]),
        help="What the middle cell is: the law's optimum or the run's model.",
    ),
    "cells_per_budget": lambda: click.Option(
        ["--cells-per-budget"], type=int, help="Sizes per budget; three when absent."
    ),
    "higher_budget_factor": lambda: click.Option(
        ["--higher-budget-factor"], type=float, help="Budget of the trend cell; 1 for none."
    ),
    "relative_cells": lambda: click.Option(
        ["--relative-cell", "relative_cells"],
        type=option_parsing.relative_cell,
        metavar="PARAMS,TOKENS",
        multiple=True,
        help="A cell in relative units, such as 2,8. Repeatable.",
    ),
    "unit_params": lambda: click.Option(
        ["--unit-params"], type=float, help="Parameters of one relative unit."
    ),
    "unit_tokens": lambda: click.Option(
        ["--unit-tokens"], type=float, help="Tokens of one relative unit."
    ),
    "k": lambda: click.Option(
        ["--k"], type=float, help="k of C = k·N·D; true FLOPs are counted when absent."
    ),
    "law": lambda: click.Option(
        ["--law"], help="A law of the guide, or none to withhold predictions."
    ),
    "generator_tokens": lambda: click.Option(
        ["--generator-tokens"],
        type=float,
        help="Different tokens a generator of synthetic data can produce.",
    ),
    "scenarios": lambda: click.Option(
        ["--scenario", "scenarios"],
        type=option_parsing.scenario,
        metavar="NAME:KEY=NUMBER,...",
        multiple=True,
        help="Served volume and weights: read_tokens, written_tokens, lambda_per_gpu_hour, "
        "mu_per_gpu_hour. Repeatable.",
    ),
    "test_time_samples": lambda: click.Option(
        ["--samples", "test_time_samples"],
        type=int,
        multiple=True,
        help="Answers or search steps per query at test time. Repeatable.",
    ),
    "measured_losses": lambda: click.Option(
        ["--measured-loss", "measured_losses"],
        type=option_parsing.numbers,
        metavar="params=N,tokens=D,loss=L[,seed=S]",
        multiple=True,
        help="A loss to fit. Repeatable.",
    ),
    "compared_runs": lambda: click.Option(
        ["--compare", "compared_runs"],
        type=option_parsing.compared_run,
        metavar="NAME:PATH[,PATH...][,KEY=VALUE...]",
        multiple=True,
        help="One of the runs compared: its logs and configs, facts, and to judge fairness role, "
        "trials, metric, validation_data or checkpoint_rule. Repeatable.",
    ),
    "target_loss": lambda: click.Option(
        ["--target-loss"], type=float, help="A validation loss that would be good."
    ),
    "validation_split": lambda: click.Option(
        ["--validation-split"],
        type=click.Choice(["random", "time", "groups", "fixed"]),
        help="How the validation data were split off.",
    ),
    "data_depends_on": lambda: click.Option(
        ["--data-depends-on", "data_depends_on"],
        type=click.Choice(["time", "groups"]),
        multiple=True,
        help="Whether the data depend on time or come in groups. Repeatable.",
    ),
    "boards": lambda: click.Option(
        ["--board", "boards"],
        type=click.Choice(["risk", "decision", "evidence", "action", "handoff", "convention"]),
        multiple=True,
        default=["risk", "decision", "evidence"],
        show_default=True,
        help="A board to keep. Repeatable.",
    ),
    "create_boards": lambda: click.Option(
        ["--create-boards"], is_flag=True, help="Make a missing board from the template."
    ),
    "grid": lambda: click.Option(
        ["--grid"],
        type=option_parsing.json_object,
        metavar="JSON",
        help="A compute-optimal grid in the budget: an object of plan-grid's own arguments, such "
        """as '{"budgets_flops": [1e19]}'; '{}' for one at the run's own cost.""",
    ),
    "decisions": lambda: click.Option(
        ["--decision", "decisions"],
        type=option_parsing.decision,
        metavar="ALTERNATIVE=DECISION[: REASON]",
        multiple=True,
        help="A decision on a cheaper alternative: accepted, rejected or open, such as "
        "'lora=rejected: the claim is about full tuning'. Repeatable.",
    ),
    "claims": lambda: click.Option(
        ["--claim", "claims"], multiple=True, help="A linked claim, such as CLM-001. Repeatable."
    ),
    "status": lambda: click.Option(
        ["--status"],
        type=click.Choice(["draft", "approved", "superseded"]),
        default="draft",
        show_default=True,
        help="State of the plan.",
    ),
    "dry_run": lambda: click.Option(
        ["--dry-run"], is_flag=True, help="Show the diff and write nothing."
    ),
    "expected_sha256": lambda: click.Option(
        ["--expected-sha256"], metavar="HASH", help="Write only if the budget still has this hash."
    ),
}
