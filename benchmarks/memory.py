"""Predicted against measured peak memory of language models, and what the verdicts are worth.

    python benchmarks/memory.py llm_throughput.csv

What a run is predicted to need is compared in kind with what was measured: the device's use as
the driver shows it, or what the allocator had reserved, which leaves the driver's context out.
"""

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compute_budget_planner.errors import PlannerError
from compute_budget_planner.estimation.assess import assess
from compute_budget_planner.estimation.memory import MemoryEstimate, verdict_of
from compute_budget_planner.estimation.memory_states import memory_states
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.workload.facts import Basis, Fact, Layer
from compute_budget_planner.workload.run import TrainingRun
from held_out import references_by_source
from llm import regime
from report import Scored, lines, print_table, refusal
from rows import Row, read_rows, row_facts, source_of

QUANTITY = "peak_memory_gib"
HELD_OUT = Path(__file__).with_name("held_out_memory.csv")
GIB = 2.0**30
_RESERVED = re.compile(r"peak reserved")
"""torchtitan's log line `memory:` is what the allocator had reserved at most, too."""
OTHER_QUANTITY = {"aws-001", "aws-002"}
"""Rows the data's own notes call another quantity; they are shown apart."""
_TOO_SMALL = 1.1
_OTHER_TOOLS = """
Median error of other tools on public rows of the same kinds, in percent (read from their code,
each in the regime it is best at): LoRA fitcheck-llm 23, ftune 42, accelerate 93; QLoRA
fitcheck-llm 22, ftune 33, accelerate 160; full fine-tuning on A100 DeepSpeed's states 29, ftune
30, accelerate 32; pre-training with tensor and pipeline ranks Megatron's formula 13, SimuMax 57.
Llama-3-8B under FSDP: llm-analysis 18, accelerate 17, Megatron's formula 66, SimuMax 94.
"""

ReferenceOf = Callable[[str], Reference]


@dataclass(frozen=True)
class Judged:
    """A scored row, its verdict, and that on a device the measured peak exceeds by 10 %.

    `stated`: the row names the loss kernel, and its optimizer weighs little (adapters) or is
    named with the form of the weights. `below_floor`: less was measured than the smallest
    states weigh.
    """

    scored: Scored
    verdict: str
    smaller_device: str
    stated: bool
    below_floor: bool


def score(path: Path, reference: Reference) -> list[Scored]:
    """Return every row whose memory counts with its prediction from what the row states.

    Each source is judged with the numbers fitted without it; rows that measured less than the
    arithmetic floor are gated out.
    """
    reference_of = references_by_source(reference, path=HELD_OUT)
    return [each.scored for each in judge(path, reference_of) if not each.below_floor]


def judge(path: Path, reference_of: ReferenceOf) -> list[Judged]:
    """Return every row whose memory counts, with its verdicts."""
    return [_judge(row, reference_of(source_of(row))) for row in memory_rows(path)]


def memory_rows(path: Path) -> list[Row]:
    """Return the rows whose memory counts."""
    return [row for row in read_rows(path) if row["score_memory"] == "1"]


def memory_facts(row: Row, reference: Reference) -> list[Fact]:
    """Return the facts a row states; of the loss kernel what its notes say of memory.

    A fused cross-entropy kernel still takes all logits; only a loss fused with the head, or in
    chunks, never holds them. A configuration without either uses the model's own loss.

    Raises:
        FactError: a cell is not a value of its fact.
    """
    facts = row_facts(row, reference)
    if not _names_loss_kernel(row):
        return facts
    fused = "Liger fused linear CE" in row["notes"]
    loss = Fact("fused_loss", fused, Basis.STATED, row["id"], Layer.ARGUMENT)
    return [fact for fact in facts if fact.name != "fused_loss"] + [loss]


def measured_without_driver(row: Row) -> bool:
    """Tell whether what was measured leaves out what the driver and collectives use."""
    return bool(_RESERVED.search(row["notes"])) or "torchtitan" in row["framework"]


def alike(memory: MemoryEstimate, row: Row) -> tuple[float, float, float]:
    """Return low, expected and high of the quantity the row measured, in GiB."""
    peak = memory.peak
    framework = memory.terms["framework"].expected if measured_without_driver(row) else 0.0
    return peak.low - framework, peak.expected - framework, peak.high - framework


def _judge(row: Row, reference: Reference) -> Judged:
    source = source_of(row)
    apart = row["id"] in OTHER_QUANTITY
    found = reference.find_accelerators(row["gpu"])
    name = regime(row, found[0].generation if found else "")
    try:
        assessment = assess(memory_facts(row, reference), reference, name=row["id"])
    except PlannerError as error:
        return _refused(refusal(row["id"], QUANTITY, name, source, str(error), apart=apart))
    run, memory = assessment.run, assessment.memory
    if run is None or memory is None:
        lacking = ", ".join(assessment.resolution.missing)
        reason = f"missing: {lacking}"
        return _refused(refusal(row["id"], QUANTITY, name, source, reason, apart=apart))
    low, expected, high = alike(memory, row)
    # Only here, after everything is predicted, is a measured column read.
    measured = float(row["peak_mem_gb"])
    return Judged(
        Scored(row["id"], QUANTITY, name, source, low, expected, high, measured, apart=apart),
        memory.verdict,
        verdict_of(memory.peak, measured / _TOO_SMALL, reference),
        _names_loss_kernel(row) and (row["method"] in ("lora", "qlora") or _names_states(row)),
        measured < _floor_gib(run, reference),
    )


def _refused(scored: Scored) -> Judged:
    return Judged(scored, "", "", stated=False, below_floor=False)


def _names_loss_kernel(row: Row) -> bool:
    return "framework_config=" in row["notes"]


def _names_states(row: Row) -> bool:
    return "pure-16-bit weights" in row["notes"]


def _floor_gib(run: TrainingRun, reference: Reference) -> float:
    """Return GiB of the smallest states the run can have: everything in 16 bit."""
    pure = replace(run.numerics, precision="bf16-true", gradient_dtype="bf16")
    states = memory_states(replace(run, numerics=pure), reference)
    return (states.weights + states.optimizer) / GIB


def verdict_lines(judged: Sequence[Judged]) -> list[str]:
    """Return what the verdicts were worth, a line each."""
    ran = [each for each in judged if each.verdict]
    shares = {
        "rows that ran called OOM": (each.verdict == "OOM" for each in ran),
        "called FITS on a device the measured peak exceeds by 10 %": (
            each.smaller_device == "FITS" for each in ran
        ),
        "called UNCERTAIN": (each.verdict == "UNCERTAIN" for each in ran),
    }
    return [f"- {what}: {_percent(hits):.1f} % of {len(ran)}" for what, hits in shares.items()]


def _percent(hits: Iterable[bool]) -> float:
    found = list(hits)
    return 100 * sum(found) / len(found)


def main(arguments: Sequence[str]) -> int:
    """Print the figures of one data file, by regime and by source."""
    if len(arguments) != 1 or not Path(arguments[0]).is_file():
        print("usage: python benchmarks/memory.py llm_throughput.csv (no part of the project)")
        return 2
    reference_of = references_by_source(load_reference(), path=HELD_OUT)
    judged = judge(Path(arguments[0]), reference_of)
    rows = [each.scored for each in judged if not each.below_floor]
    print_table("peak memory by regime", lines(rows))
    print_table("peak memory by source", lines(rows, lambda row: row.source))
    stated = [each.scored for each in judged if each.stated and not each.below_floor]
    print_table("where loss kernel and optimizer are stated", lines(stated))
    print()
    print("\n".join(verdict_lines(judged)))
    print(f"- below the arithmetic floor, gated out: {sum(each.below_floor for each in judged)}")
    print(_OTHER_TOOLS)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
