"""What the Hugging Face Trainer prints: the block before training and the metrics after it.

    ***** Running training *****
      Num examples = 848
      Total optimization steps = 650
    {'train_runtime': 1234.5, 'train_steps_per_second': 0.52, ...}

Every rank may print them; the last of each counts. A block of evaluation looks alike and is not
read. Source: the log output described in the `transformers` documentation.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.nodes import Node

Point = tuple[float, float]
"""Place in the run and loss."""

_BLOCK_LINES = 14
_FIELDS = {
    "Num examples": "dataset_examples",
    "Num Epochs": "epochs",
    "Instantaneous batch size per device": "micro_batch_size",
    "Total train batch size (w. parallel, distributed & accumulation)": "global_batch_size",
    "Gradient Accumulation steps": "grad_accum_steps",
    "Total optimization steps": "max_steps",
}
_FIELD = re.compile(
    "(" + "|".join(re.escape(name) for name in _FIELDS) + r")\s*=\s*([\d,]{1,20})\s*$"
)
_ROWS = re.compile(
    r"(?:\b(?P<split>\w{1,40}): )?\bDataset\(\{[^{}]{0,2000}?num_rows: (?P<rows>\d{1,12})\b"
)
_METRIC = re.compile(r"""["'](\w{1,60})["']:\s*["']?([-+0-9.eE]{1,30})["']?\s*[,}]""")


@dataclass(frozen=True)
class TrainingBlock:
    """Facts by name with the line they stand on."""

    facts: dict[str, tuple[int, int]]

    @property
    def grad_accum_steps(self) -> int | None:
        """Forward passes per optimizer step, when printed."""
        return self.facts.get("grad_accum_steps", (None, 0))[0]

    @property
    def n_gpus(self) -> int | None:
        """Processes: global batch over what one process contributes."""
        batch, micro, accumulation = (
            self.facts.get(name, (0, 0))[0]
            for name in ("global_batch_size", "micro_batch_size", "grad_accum_steps")
        )
        share = micro * accumulation
        return batch // share if share and batch and batch % share == 0 else None


def training_block(lines: Sequence[str]) -> TrainingBlock | None:
    """Return the last block that announces training, or None."""
    found = None
    for number, line in enumerate(lines, start=1):
        if "Running training" not in line:
            continue
        facts = {}
        following = islice(lines, number, number + _BLOCK_LINES)
        for offset, candidate in enumerate(following, start=1):
            if "*****" in candidate:
                break
            if match := _FIELD.search(candidate[:400]):
                value = int(match[2].replace(",", "") or 0)
                facts[_FIELDS[match[1]]] = (value, number + offset)
        if facts:
            found = TrainingBlock({name: pair for name, pair in facts.items() if pair[0]})
    return found


def metrics_line(lines: Sequence[str]) -> Node | None:
    """Return the last printed metrics that hold a run time, as a mapping, or None."""
    for number, line in zip(range(len(lines), 0, -1), reversed(lines), strict=True):
        if "train_runtime" not in line or "{" not in line:
            continue
        metrics: dict[str, Node] = {}
        for key, text in _METRIC.findall(line[-4000:]):
            try:
                metrics[key] = Node(float(text), number)
            except ValueError:
                continue
        if "train_runtime" in metrics:
            return Node(metrics, number)
    return None


def block_values(block: TrainingBlock, file: SourceFile) -> list[DirectValue]:
    """Return the facts of a block with their places."""
    return [(name, value, file.at(line)) for name, (value, line) in block.facts.items()]


def logged_losses(lines: Sequence[str]) -> tuple[list[Point], list[Point]]:
    """Return losses of training and of evaluation as printed: (thousandths of an epoch, loss)."""
    train: list[Point] = []
    validation: list[Point] = []
    for line in lines:
        if "loss'" not in line or "'epoch'" not in line:
            continue
        found = dict(_METRIC.findall(line[-4000:]))
        for key, points in (("loss", train), ("eval_loss", validation)):
            if key in found:
                try:
                    points.append((round(1000 * float(found["epoch"])), float(found[key])))
                except (KeyError, ValueError, OverflowError):
                    continue
    return train, validation


def printed_examples(file: SourceFile) -> Iterator[DirectValue]:
    """Yield the rows of the training split, or of the only data set, that was printed."""
    printed = list(islice(_ROWS.finditer(file.text), 50))
    chosen = [m for m in printed if m["split"] == "train"]
    if not chosen and len(printed) == 1 and not printed[0]["split"]:
        chosen = printed
    for match in chosen[:1]:
        line = file.text.count("\n", 0, match.start("rows")) + 1
        yield "dataset_examples", int(match["rows"]), file.at(line)
