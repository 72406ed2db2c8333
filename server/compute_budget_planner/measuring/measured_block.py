"""A device's block of the lab page: the rows that win, then everything measured, to be read."""

from collections.abc import Iterator, Sequence
from datetime import date

from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.measuring.guide_rows import Identity, Rows, cell
from compute_budget_planner.measuring.lab_page import plain_table, table
from compute_budget_planner.measuring.measurements import Measurements
from compute_budget_planner.measuring.training_steps import Prediction, ReferenceStep

_CPU = (
    "**Measured on a CPU.** The rows describe this CPU alone. They show that measuring works here "
    "and say nothing of a GPU job: measure again where the job will run."
)
_WHOLE_PROJECT = (
    "The rows of `step_time` and `framework_classes` hold for every device planned in this "
    "project: they are this machine's. Take them out of the block where plans are for others, or "
    "put other rows below it, which win."
)
_IMPLIED = (
    "The guide does not list this device. Its peaks, bandwidth and link are therefore not those "
    "of a data sheet: times the guide's shares they give what was measured."
)
_RANGES = "Columns low, expected and high are the 10th, 50th and 90th percentile over repeats."

Predictions = Sequence[tuple[ReferenceStep, Prediction | None, Prediction | None]]
"""Each step with what the guide predicts before and with the rows of the block."""


def measured_block(
    measured: Measurements,
    identity: Identity,
    rows: Rows,
    predictions: Predictions,
    today: date,
) -> str:
    """Return the block's Markdown."""
    device = measured.device
    where = device.name if device.is_cpu else f"one of {device.count} × {device.name}"
    source = f"`compute-budget-planner measure` on {where}, {device.software}"
    parts = [f"## Measured: {identity.name}"]
    if device.is_cpu:
        parts.append(_CPU)
    if not identity.listed:
        parts.append(_IMPLIED)
    if "step_time" in rows or "framework_classes" in rows:
        parts.append(_WHOLE_PROJECT)
    parts += [table(name, source, today.isoformat(), found) for name, found in rows.items()]
    parts += ["### What was measured", f"By {source}, {today.isoformat()}. {_RANGES}"]
    parts += _tables(measured)
    if predictions:
        parts += _steps(predictions)
    if measured.problems:
        parts.append("Not measured, or to be doubted:")
        parts.append("\n".join(f"- {problem}" for problem in measured.problems))
    return "\n\n".join(parts)


def _tables(measured: Measurements) -> Iterator[str]:
    if measured.matmuls:
        yield plain_table(
            ["square matmul", "size", "low", "expected", "high", "unit"],
            [[r.precision, str(r.size), *_cells(r.tflops), "TFLOPS"] for r in measured.matmuls],
        )
    lines = list(_lines(measured))
    if lines:
        yield plain_table(["quantity", "low", "expected", "high", "unit"], lines)


def _lines(measured: Measurements) -> Iterator[list[str]]:
    if measured.bandwidth_gb_s:
        yield ["copy within memory, read and write", *_cells(measured.bandwidth_gb_s), "GB/s"]
    floor = measured.launch
    if floor:
        kernel = floor.kernel_seconds.scaled(1e6)
        yield ["smallest kernel", *_cells(kernel), "µs"]
        for form, seconds in (
            ("eager", floor.layer_seconds),
            ("compiled", floor.compiled_layer_seconds),
        ):
            if seconds:
                name = f"launch-bound layer, forward and backward, {form}"
                yield [name, *_cells(seconds.scaled(1e6)), "µs"]
    eight, sixteen = measured.best("fp8"), measured.best("bf16")
    if eight and sixteen:
        # Not the guide's fp8_speed: that is what a training step gains, casts included.
        ratio = Range.exact(eight.expected / sixteen.expected)
        yield ["best FP8 matmul over best bf16", *_cells(ratio), "factor"]
    for item in measured.all_reduce:
        name = f"all-reduce of {item.mib} MiB over {item.n_gpus} devices"
        yield [name, *_cells(item.gb_s), "GB/s per device"]


def _steps(predictions: Predictions) -> Iterator[str]:
    yield (
        "Reference steps: a GPT-2-like model in plain PyTorch modules, autocast below fp32, AdamW, "
        "one device. Predictions are low / expected / high, before this block and with it."
    )
    yield plain_table(
        [
            "step",
            "measured ms",
            "predicted before",
            "predicted with these rows",
            "measured / predicted",
        ],
        [
            [
                _step(step),
                _triple(step.seconds.scaled(1e3)),
                *(_triple(p.seconds.scaled(1e3)) if p else "–" for p in (before, after)),
                f"{step.seconds.expected / after.seconds.expected:.2f}" if after else "–",
            ]
            for step, before, after in predictions
        ],
    )
    weighed = [(s, after) for s, _, after in predictions if s.peak_memory_gib is not None and after]
    if weighed:
        yield plain_table(
            ["step", "measured peak GiB", "predicted GiB"],
            [
                [_step(step), cell(step.peak_memory_gib or 0.0), _triple(after.peak_memory_gib)]
                for step, after in weighed
            ],
        )


def _step(step: ReferenceStep) -> str:
    shape = step.shape
    millions = f"{shape.params_total / 1e6:.3g}M"
    layers = f"{shape.n_layers} × {shape.d_model}"
    return f"{millions} ({layers}), {shape.micro_batch_size} × {shape.seq_len}, {step.precision}"


def _cells(value: Range) -> list[str]:
    return [cell(number) for number in (value.low, value.expected, value.high)]


def _triple(value: Range) -> str:
    return " / ".join(f"{number:.3g}" for number in (value.low, value.expected, value.high))
