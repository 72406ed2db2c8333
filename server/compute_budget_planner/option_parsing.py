"""What a text on the command line means: facts, runs, variants, decisions, cells, scenarios.

Every parser takes the text of one option and returns what a request takes. Nothing but click is
imported, so that `--help` is there in a blink.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import click

Scalar = bool | int | float | str | None

_WORDS: Mapping[str, Scalar] = {"true": True, "false": False, "null": None, "~": None, "": None}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?")
_OF_A_VARIANT = ("multiplier", "seeds", "tuning_trials", "priority")
_OF_A_SIDE = ("role", "validation_data", "metric", "checkpoint_rule", "trials")
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


def fact(text: str) -> tuple[str, Scalar]:
    """Return name and value of `n_gpus=8`."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        message = f"{text!r} is not NAME=VALUE, such as n_gpus=8."
        raise click.BadParameter(message)
    return name.strip(), scalar(value)


def measured_run(text: str) -> dict[str, object]:
    """Return `run.log,n_gpus=4` as files and facts of an earlier run."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise click.BadParameter("name a log, or facts such as step_seconds=0.8.")
    return {
        "files": [part for part in parts if "=" not in part],
        "facts": as_facts([fact(part) for part in parts if "=" in part]),
    }


def decision(text: str) -> dict[str, str]:
    """Return `lora=rejected: the reason` as a decision."""
    match = _DECISION.fullmatch(text)
    if match is None:
        message = (
            f"{text!r} is not 'ALTERNATIVE=accepted: reason'; a decision is accepted, rejected "
            "or open."
        )
        raise click.BadParameter(message)
    alternative, decided, reason = match.groups()
    return {
        "alternative": alternative.strip(),
        "decision": decided,
        "reason": (reason or "").strip(),
    }


def variant(text: str) -> dict[str, object]:
    """Return `half-depth:n_layers=6,seeds=3` as a variant of a matrix."""
    name, _, rest = text.partition(":")
    if not name.strip():
        raise click.BadParameter("name the variant, such as half-depth:n_layers=6.")
    given: dict[str, object] = {"name": name.strip()}
    changes: list[tuple[str, Scalar]] = []
    claims: list[str] = []
    for part in (part.strip() for part in rest.split(",") if part.strip()):
        key, value = fact(part)
        if key == "claim":
            claims.append(str(value))
        elif key in _OF_A_VARIANT:
            given[key] = value
        else:
            changes.append((key, value))
    return {**given, "changes": as_facts(changes), "claims": claims}


def as_facts(pairs: Sequence[tuple[str, Scalar]]) -> dict[str, Scalar]:
    """Return facts by name; one that is given twice is refused."""
    facts = dict(pairs)
    if len(facts) < len(pairs):
        twice = next(name for name, _ in pairs if sum(name == other for other, _ in pairs) > 1)
        message = f"the fact `{twice}` is given twice."
        raise click.UsageError(message)
    return facts


def numbers(text: str) -> dict[str, Scalar]:
    """Return `params=1e8,tokens=2e9` as an object of numbers."""
    return as_facts([fact(part) for part in text.split(",") if part.strip()])


def scenario(text: str) -> dict[str, object]:
    """Return `api:read_tokens=1e12` as a scenario of serving."""
    name, _, rest = text.partition(":")
    if not name.strip():
        message = f"{text!r} is not 'NAME:read_tokens=...,written_tokens=...'."
        raise click.BadParameter(message)
    return {"name": name.strip(), **numbers(rest)}


def relative_cell(text: str) -> dict[str, Scalar]:
    """Return `2,8` as a cell in relative units."""
    parts = text.split(",")
    if len(parts) != 2:
        message = f"{text!r} is not PARAMS,TOKENS, such as 2,8."
        raise click.BadParameter(message)
    return {"params": scalar(parts[0]), "tokens": scalar(parts[1])}


def json_object(text: str) -> dict[str, object]:
    """Return the object a JSON text is."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        message = f"{text!r} is no JSON object, such as '{{\"budgets_flops\": [1e19]}}'."
        raise click.BadParameter(message)
    return given


def compared_run(text: str) -> dict[str, object]:
    """Return `small:logs/small.csv,params_total=1e8` as one of the runs compared."""
    name, _, rest = text.partition(":")
    parts = [part.strip() for part in rest.split(",") if part.strip()]
    if not name.strip() or not parts:
        message = f"{text!r} is not NAME:PATH,... or NAME:FACT=VALUE,..."
        raise click.BadParameter(message)
    pairs = [fact(part) for part in parts if "=" in part]
    return {
        "name": name.strip(),
        "files": [part for part in parts if "=" not in part],
        "facts": as_facts([pair for pair in pairs if pair[0] not in _OF_A_SIDE]),
        **as_facts([pair for pair in pairs if pair[0] in _OF_A_SIDE]),
    }


def argument_of(field: str, value: Any) -> object:
    """Return an option's value as the request takes it: lists for tuples, an object of facts."""
    if field == "facts":
        return as_facts(value)
    return list(value) if isinstance(value, tuple) else value
