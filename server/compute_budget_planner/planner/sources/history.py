"""Earlier runs: logs and stated measurements as measured runs the estimate is calibrated on."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from compute_budget_planner.errors import FactError, RequestError
from compute_budget_planner.estimation.calibration import Measured
from compute_budget_planner.planner.sources.gather import Gathered, gather, loose_facts, run_facts
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.readers.contract import Reading
from compute_budget_planner.readers.run_folders import companions
from compute_budget_planner.requests import FactInput, MeasuredRun
from compute_budget_planner.workload.facts import Basis, Fact, Layer
from compute_budget_planner.workload.resolve import Resolution, resolve
from compute_budget_planner.workload.vocabulary import VOCABULARY, parse_fact

SPEEDS = (
    "step_seconds",
    "steps_per_second",
    "tokens_per_second",
    "tokens_per_second_per_gpu",
    "samples_per_second",
)


MEASUREMENTS = frozenset((*SPEEDS, "peak_memory_gib", "steps_done", "wall_clock_hours"))
"""What only an earlier run can tell."""

_SAME_SPEED = 0.01
_TOGETHER = (
    {"max_steps", "train_tokens", "epochs", "steps_done"},
    {"n_gpus", "n_nodes", "gpus_per_node"},
)
"""Facts that say one thing in several words: given one, none of the others is inherited."""


def stated_facts(facts: dict[str, FactInput], workspace: Workspace) -> list[Fact]:
    """Return facts given as arguments; null values are withdrawals and not among them.

    Raises:
        FactError: a fact is unknown or its value not of its kind.
    """
    return [
        Fact(
            name,
            parse_fact(name, raw, workspace.reference, f"facts.{name}"),
            Basis.STATED,
            "stated",
            Layer.ARGUMENT,
        )
        for name, raw in facts.items()
        if raw is not None or name not in VOCABULARY
    ]


def project_history(
    workspace: Workspace, gathered: Gathered, device: FactInput = None
) -> list[Measured]:
    """Return the measured runs the project's own logs give, each in its own configuration.

    A stated `device` that settles an ambiguous name in the files settles it for them as well.
    """
    found = []
    for run in gathered.runs:
        facts = _on_stated_device(run_facts(gathered, run), device, workspace)
        of_run: list[Measured] = []
        for path in run.prior_logs:
            log = gathered.readings[path]
            beside = companions(path, run.prior_logs, gathered.readings)
            logged = [fact for part in (log, *beside) for fact in _of_log(part)]
            # Of several files of one run it is named by the one that tells how it ended.
            telling = next((p for p in (log, *beside) if p.finished is not None), log)
            known = [*logged, *_fitting(facts, logged)]
            measured = _measured(workspace, telling.path, known, telling)
            if measured is not None and not any(_same_run(measured, other) for other in of_run):
                of_run.append(measured)
        found += of_run
    return found


def _on_stated_device(facts: Sequence[Fact], device: FactInput, workspace: Workspace) -> list[Fact]:
    """Return facts with the stated device where their own name may mean it among others."""

    def meant(name: object) -> set[str]:
        return {found.name for found in workspace.reference.find_accelerators(str(name or ""))}

    return [
        replace(fact, value=str(device))
        if fact.name == "gpu" and meant(device) and meant(device) < meant(fact.value)
        else fact
        for fact in facts
    ]


def _same_run(one: Measured, other: Measured) -> bool:
    """Tell whether two logs of a job are of one execution: speeds that close are no accident."""
    return abs(one.step_seconds - other.step_seconds) <= _SAME_SPEED * other.step_seconds


def stated_history(
    workspace: Workspace, runs: Sequence[MeasuredRun], plan: Sequence[Fact]
) -> list[Measured]:
    """Return the measured runs given as arguments.

    What a measured run does not say of its configuration is taken from the planned run.

    Raises:
        RequestError: no seconds per step follow from a measured run.
        FactError: a fact is unknown, ill-formed or contradicts another.
    """
    found = []
    for index, item in enumerate(runs):
        where = f"measured_runs[{index}]"
        facts = stated_facts(item.facts, workspace)
        if item.files:
            gathered = gather(workspace, item.files)
            logs = [r for r in gathered.readings.values() if r.measured]
            facts += [fact for log in logs for fact in _of_log(log)]
            facts += loose_facts(gathered)
        label = item.files[0] if item.files else where
        known = {fact.name for fact in facts}
        if not known & {*SPEEDS, "wall_clock_hours"}:
            raise RequestError(
                "no seconds per step follow from this measured run",
                where=where,
                remedy="Give one of "
                + ", ".join(f"`{name}`" for name in SPEEDS)
                + ", or `wall_clock_hours` and `steps_done`.",
            )
        settled = known.union(MEASUREMENTS, *(group for group in _TOGETHER if known & group))
        inherited = [fact for fact in plan if fact.name not in settled]
        measured = _measured(workspace, label, [*facts, *inherited], None)
        if measured is None:
            lacking = resolve(
                _with_length([*facts, *inherited]), workspace.reference, name=label
            ).missing
            raise RequestError(
                "the measured run's configuration is incomplete: "
                + (", ".join(f"`{name}`" for name in lacking) or "`steps_done`")
                + " missing",
                where=where,
                remedy="Give it in the `facts` of the measured run.",
            )
        found.append(measured)
    return found


def _fitting(facts: Sequence[Fact], logged: Sequence[Fact]) -> list[Fact]:
    """Return the facts of a job without its nodes when its log counts other devices in all."""
    devices = next((fact.value for fact in logged if fact.name == "n_gpus"), None)
    job = {fact.name: fact.value for fact in reversed(facts)}
    nodes, per_node = job.get("n_nodes", 1), job.get("gpus_per_node")
    if devices is None or per_node is None or float(nodes) * float(per_node) == float(devices):
        return list(facts)
    return [fact for fact in facts if fact.name not in ("n_nodes", "gpus_per_node", "n_gpus")]


def _of_log(log: Reading) -> list[Fact]:
    """Return a log's own facts, first in rank: it saw what the run really did."""
    return [
        Fact(f.name, f.value, f.basis, f.source, Layer.COMMAND_LINE)
        for f in (*log.measured, *log.facts)
    ]


def _measured(
    workspace: Workspace, label: str, facts: Iterable[Fact], log: Reading | None
) -> Measured | None:
    known = list(facts)
    try:
        resolution = resolve(_with_length(known), workspace.reference, name=label)
    except FactError:
        # An earlier run whose own files contradict each other teaches nothing; it is reported
        # by inspect_project through its readings.
        return None
    if resolution.run is None:
        return None
    seconds = step_seconds(resolution, log.finished if log is not None else True)
    if seconds is None:
        return None
    peak = resolution.facts.get("peak_memory_gib")
    overall = duration_over_steps(resolution)
    return Measured(
        label,
        resolution.run,
        seconds,
        whole_run=overall is not None and abs(seconds - overall) <= _SAME_SPEED * overall,
        finished=log is not None and log.finished is True,
        peak_memory_gib=None if peak is None else float(peak.value),
    )


def _with_length(facts: list[Fact]) -> list[Fact]:
    """Add the steps an earlier run made as its length, so that it resolves by itself."""
    done = next((f for f in facts if f.name == "steps_done"), None)
    if done is None:
        return facts
    length = Fact("max_steps", done.value, Basis.MEASURED, done.source, Layer.ARGUMENT)
    return [length, *facts]


def step_seconds(resolution: Resolution, finished: bool | None) -> float | None:
    """Return measured seconds per optimizer step: a rate, or duration over steps.

    The duration counts only when the run ended by itself; it holds start-up and evaluation.
    """
    run, facts = resolution.run, resolution.facts
    if run is None:
        return None
    batch = run.batch.global_batch_size

    def value(name: str) -> float | None:
        fact = facts.get(name)
        return None if fact is None or isinstance(fact.value, str) else float(fact.value)

    if (seconds := value("step_seconds")) is not None:
        return seconds
    if (rate := value("steps_per_second")) is not None:
        return 1 / rate
    if (rate := value("samples_per_second")) is not None:
        return batch / rate
    if run.data.seq_len:
        if (rate := value("tokens_per_second")) is not None:
            return batch * run.data.seq_len / rate
        if (rate := value("tokens_per_second_per_gpu")) is not None:
            return batch * run.data.seq_len / (rate * run.hardware.n_gpus)
    return duration_over_steps(resolution) if finished is not False else None


def duration_over_steps(resolution: Resolution) -> float | None:
    """Return a run's measured duration over its optimizer steps, in seconds."""
    hours = resolution.facts.get("wall_clock_hours")
    steps = resolution.facts.get("steps_done")
    if hours is None or steps is None:
        return None
    return float(hours.value) * 3600 / float(steps.value)
