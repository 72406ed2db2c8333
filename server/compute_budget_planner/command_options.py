"""The options of the command line, one for every argument a tool can take.

Named after the fields of the request models; `argument_of` turns what click gives into what a
request takes. Nothing but click is imported, so that `--help` is there in a blink.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

Scalar = bool | int | float | str | None

_WORDS: Mapping[str, Scalar] = {"true": True, "false": False, "null": None, "~": None, "": None}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?")
_OF_A_VARIANT = ("multiplier", "seeds", "tuning_trials", "priority")
_DECISION = re.compile(r"(.+?)=(accepted|rejected|open)(?::\s*(.*))?", re.DOTALL)


def scalar(text: str) -> Scalar:
    """Return what a YAML scalar means: `8`, `1e-4`, `true`, `null`; anything else is text.

    Quotes keep text as it is: `"8"`. A number too large for a float stays text, for the
    vocabulary to refuse.
    """
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    if _INTEGER.fullmatch(text) and len(text) < 20:
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text


def _fact(text: str) -> tuple[str, Scalar]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        message = f"{text!r} is not NAME=VALUE, such as n_gpus=8."
        raise click.BadParameter(message)
    return name.strip(), scalar(value)


def _measured_run(text: str) -> dict[str, object]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise click.BadParameter("name a log, or facts such as step_seconds=0.8.")
    return {
        "files": [part for part in parts if "=" not in part],
        "facts": _as_facts([_fact(part) for part in parts if "=" in part]),
    }


def _decision(text: str) -> dict[str, str]:
    match = _DECISION.fullmatch(text)
    if match is None:
        message = (
            f"{text!r} is not 'ALTERNATIVE=accepted: reason'; a decision is accepted, rejected "
            "or open."
        )
        raise click.BadParameter(message)
    alternative, decision, reason = match.groups()
    return {
        "alternative": alternative.strip(),
        "decision": decision,
        "reason": (reason or "").strip(),
    }


def _variant(text: str) -> dict[str, object]:
    name, _, rest = text.partition(":")
    if not name.strip():
        raise click.BadParameter("name the variant, such as half-depth:n_layers=6.")
    variant: dict[str, object] = {"name": name.strip()}
    changes: list[tuple[str, Scalar]] = []
    claims: list[str] = []
    for part in (part.strip() for part in rest.split(",") if part.strip()):
        key, value = _fact(part)
        if key == "claim":
            claims.append(str(value))
        elif key in _OF_A_VARIANT:
            variant[key] = value
        else:
            changes.append((key, value))
    return {**variant, "changes": _as_facts(changes), "claims": claims}


def _as_facts(pairs: Sequence[tuple[str, Scalar]]) -> dict[str, Scalar]:
    facts = dict(pairs)
    if len(facts) < len(pairs):
        twice = next(name for name, _ in pairs if sum(name == other for other, _ in pairs) > 1)
        message = f"the fact `{twice}` is given twice."
        raise click.UsageError(message)
    return facts


def _numbers(text: str) -> dict[str, Scalar]:
    """Return `params=1e8,tokens=2e9` as an object of numbers."""
    return _as_facts([_fact(part) for part in text.split(",") if part.strip()])


def _scenario(text: str) -> dict[str, object]:
    name, _, rest = text.partition(":")
    if not name.strip():
        message = f"{text!r} is not 'NAME:read_tokens=...,written_tokens=...'."
        raise click.BadParameter(message)
    return {"name": name.strip(), **_numbers(rest)}


def _relative_cell(text: str) -> dict[str, Scalar]:
    parts = text.split(",")
    if len(parts) != 2:
        message = f"{text!r} is not PARAMS,TOKENS, such as 2,8."
        raise click.BadParameter(message)
    return {"params": scalar(parts[0]), "tokens": scalar(parts[1])}


def argument_of(field: str, value: Any) -> object:
    """Return an option's value as the request takes it: lists for tuples, an object of facts."""
    if field == "facts":
        return _as_facts(value)
    return list(value) if isinstance(value, tuple) else value


PARAMETERS: Mapping[str, Callable[[], click.Parameter]] = {
    "files": lambda: click.Argument(["files"], nargs=-1, metavar="[FILES]..."),
    "facts": lambda: click.Option(
        ["--fact", "facts"],
        type=_fact,
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
        type=_measured_run,
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
        type=_variant,
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
        type=_relative_cell,
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
        type=_scenario,
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
        type=_numbers,
        metavar="params=N,tokens=D,loss=L[,seed=S]",
        multiple=True,
        help="A loss to fit. Repeatable.",
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
    "decisions": lambda: click.Option(
        ["--decision", "decisions"],
        type=_decision,
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
