"""Each fact that should be read beside the one that was: right, wrong, missing or invented."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compute_budget_planner.errors import FactError
from compute_budget_planner.guide.reference import Reference, spelling
from compute_budget_planner.workload.facts import Basis, Fact, FactValue
from compute_budget_planner.workload.vocabulary import VOCABULARY, Kind, parse_fact
from reading_corpus import Line, UnitReading

RIGHT, WRONG, MISSING, INVENTED = "right", "wrong", "missing", "invented"
UNKNOWN_WORD = "not in the vocabulary"
WEAKER_RIGHT, WEAKER_WRONG, BESIDE = "weaker right", "weaker wrong", "beside"
"""Facts outside the score: weaker ones that were given, and those the line does not speak of."""

_EXACT, _ROUNDED = 1e-6, 6e-3
_RECIPROCAL = {"steps_per_second": "step_seconds", "step_seconds": "steps_per_second"}
_GENERAL = {"research_config", "local_job"}
"""Readers that take what no reader of a format of its own has taken."""

_NUMBER = re.compile(r"(?<![\w.])\d[\d_,]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]*\d)")


@dataclass(frozen=True)
class Verdict:
    """One fact of a unit: what was expected, what was read and where, and why it is amiss."""

    unit: str
    format: str
    fact: str
    verdict: str
    expected: str
    got: str = ""
    source: str = ""
    reader: str = ""
    why: str = ""


def verdicts(
    line: Line, reading: UnitReading, folder: Path, reference: Reference
) -> Iterator[Verdict]:
    """Judge every fact of a line, then what was read beside them."""
    for name, expected in line.required.items():
        found = _found(name, reading)
        verdict = _judge(name, expected, found, reference)
        why = _why_missing(expected, reading, folder) if verdict == MISSING else ""
        yield _verdict(line, name, verdict, str(expected), found, reading, why)
    for name, expected in line.weaker.items():
        found = _found(name, reading)
        judged = _judge(name, expected, found, reference)
        if judged in (RIGHT, WRONG):
            verdict = WEAKER_RIGHT if judged == RIGHT else WEAKER_WRONG
            yield _verdict(line, name, verdict, str(expected), found, reading)
    for name, found in reading.facts.items():
        if name in line.required or name in line.weaker:
            continue
        chosen = [fact for fact in found if fact.basis is not Basis.FRAMEWORK_DEFAULT]
        if name in line.open and chosen:
            yield _verdict(line, name, INVENTED, "unresolved", chosen, reading)
        else:
            yield _verdict(line, name, BESIDE, "", found, reading)


def _found(name: str, reading: UnitReading) -> Sequence[Fact]:
    """Return the facts read under a name, a rate also from its reciprocal."""
    other = _RECIPROCAL.get(name, "")
    if name in reading.facts or other not in reading.facts:
        return reading.facts.get(name, ())
    return [replace(f, name=name, value=1 / float(f.value)) for f in reading.facts[other]]


def _verdict(
    line: Line,
    name: str,
    verdict: str,
    expected: str,
    found: Sequence[Fact],
    reading: UnitReading,
    why: str = "",
) -> Verdict:
    source = found[0].source if found else ""
    path = max((p for p in reading.formats if source.startswith(p)), key=len, default="")
    got = ", ".join(f"{fact.value}" for fact in found)
    reader = reading.formats.get(path, "")
    return Verdict(line.unit, line.format, name, verdict, expected, got, source, reader, why)


def _judge(name: str, expected: object, found: Sequence[Fact], reference: Reference) -> str:
    wanted = expected if isinstance(expected, list) else [expected]
    try:
        values = [parse_fact(name, value, reference) for value in wanted]
    except FactError:
        return UNKNOWN_WORD
    if not found:
        return MISSING
    alike = len(values) == len(found) and all(
        any(agrees(name, value, fact.value, reference) for fact in found) for value in values
    )
    return RIGHT if alike else WRONG


def agrees(name: str, expected: FactValue, got: FactValue, reference: Reference) -> bool:
    """Tell whether two canonical values say the same.

    Measured rates and durations may be rounded to three digits or as the expected one is; counts
    are exact. A device agrees when it can mean the same devices as the expected name. Names agree
    whatever their case, organisation and file ending, and when the guide knows them as one model;
    a precision whether or not the weights are kept in it too.
    """
    spec = VOCABULARY[name]
    if spec.group == "measured" and spec.kind is Kind.POSITIVE:
        decimals = len(f"{float(expected)}".partition(".")[2])
        rounding = max(_ROUNDED * abs(float(expected)), 0.5 * 10.0**-decimals)
        return abs(float(expected) - float(got)) <= rounding
    if not isinstance(expected, str) or not isinstance(got, str):
        return abs(float(expected) - float(got)) <= _EXACT * abs(float(expected))
    if name == "gpu":
        meant = {device.name for device in reference.find_accelerators(expected)}
        read = {device.name for device in reference.find_accelerators(got)}
        return read == meant if meant or read else _plain(expected) == _plain(got)
    if name == "model":
        known = reference.find_model(expected)
        if known is not None and known == reference.find_model(got):
            return True
    if name == "precision":
        return expected.removesuffix("-true") == got.removesuffix("-true")
    return _plain(expected) == _plain(got)


def _plain(text: str) -> str:
    """Return a name without organisation, vendor, remark and file ending."""
    last = re.sub(r"\s*\(.*\)$", "", text).rstrip("/").rsplit("/", maxsplit=1)[-1]
    stem = re.sub(r"\.(json|jsonl|yaml|yml|bin)$", "", last)
    return spelling(stem).removeprefix("nvidia-").replace("-", "")


def _why_missing(expected: object, reading: UnitReading, folder: Path) -> str:
    """Return the likely reason a fact was not read; the value's standing in a text is the hint."""
    if reading.refused:
        return "the file was refused"
    if all(reader == "unknown" for reader in reading.formats.values()):
        return "no reader takes the file"
    texts = {f.relative_to(folder).as_posix(): f for f in folder.rglob("*") if f.is_file()}
    inside = [path for path, file in texts.items() if _stands_in(expected, file)]
    if any(reading.formats.get(path, "unknown") != "unknown" for path in inside):
        readers = sorted({reading.formats[path] for path in inside if path in reading.formats})
        kind = "the general reader " if set(readers) <= _GENERAL else ""
        return f"stands in the file, not read by {kind}{', '.join(readers)}"
    if inside:
        return "a file of the unit was not followed or not known"
    if reading.unfollowed:
        return "follows from other facts, or stands in a file that is not at hand"
    return "follows from other facts, or is written in another form"


def _stands_in(expected: object, file: Path) -> bool:
    text = file.read_text(encoding="utf-8", errors="replace")
    if isinstance(expected, bool):
        return str(expected).lower() in text.lower()
    if isinstance(expected, int | float):
        numbers = (m.group().replace(",", "").replace("_", "") for m in _NUMBER.finditer(text))
        return any(abs(float(n) - expected) <= _EXACT * abs(expected) for n in numbers)
    return str(expected).lower() in text.lower()
