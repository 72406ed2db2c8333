"""A run in MLflow's file store: `meta.yaml`, and a file for each metric and each parameter.

Times are in milliseconds. A metric's file has lines `timestamp value step`, a parameter's file is
its value. Source: mlflow/store/tracking/file_store.py.
"""

import re

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.rounded_rates import number_of
from compute_budget_planner.readers.run_log import RunLog
from compute_budget_planner.readers.structured import load_mapping, mapping_of

_FINISHED = 3
_STATES = {1: "still running", 2: "scheduled", 4: "failed", 5: "killed"}
_METRIC_PATH = re.compile(r"(?:^|/)metrics/(?P<name>[\w/.-]{1,120})$")
_PARAMETER_PATH = re.compile(r"(?:^|/)[0-9a-f]{32}/params/(?P<name>[\w/.-]{1,120})$")
_POINT = re.compile(r"(\d{12,14}) ([-+0-9.eEnaif]{1,30}) (\d{1,15})")
_VALIDATION = re.compile(r"val|eval|test")


class MlflowMetaReader:
    """`meta.yaml` of a run: how long it took and how it ended."""

    format = "mlflow_run"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the mapping names a run and when it started."""
        document = mapping_of(file)
        return document is not None and {"run_id", "start_time", "lifecycle_stage"} <= set(
            document.root.mapping
        )

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the duration of a run that finished.

        Raises:
            FormatError: the file is broken.
        """
        document = load_mapping(file)
        root = document.root
        log = RunLog(file)
        log.problems += document.problems
        state = root.get("status")
        code = state.scalar if state is not None else None
        log.finished = code == _FINISHED if isinstance(code, int) else None
        start, end = number_of(root.get("start_time")), number_of(root.get("end_time"))
        line = root.line_of("end_time")
        if start is None or end is None or end <= start:
            log.ask(line, "the run has no end: how long it took is not known")
        elif log.finished is False:
            state_name = _STATES.get(int(str(code)), "not finished")
            log.ask(line, f"the run is {state_name}: its time is no run time")
        else:
            log.say("wall_clock_hours", (end - start) / 3_600_000, line)
        stage = root.get("lifecycle_stage")
        if stage is not None and stage.scalar == "deleted":
            log.ask(stage.line, "the run was deleted in MLflow")
        return log.reading(self.format, reference)


class MlflowMetricReader:
    """The file of one metric."""

    format = "mlflow_metric"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the first line is a point and the file lies where metrics lie."""
        return (
            _METRIC_PATH.search(file.path) is not None and _POINT.match(file.text[:100]) is not None
        )

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return a loss curve, and the time per step when a training metric is logged by steps.

        Raises:
            FormatError: never; lines that are no points are passed over.
        """
        match = _METRIC_PATH.search(file.path)
        name = match["name"].lower() if match else ""
        log = RunLog(file)
        points = []
        for number, line in enumerate(file.text.split("\n"), start=1):
            if point := _POINT.match(line[:200]):
                points.append((int(point[3]), int(point[1]) / 1000, point[2]))
                log.speed_line = number
        if "loss" in name:
            series = log.validation if _VALIDATION.search(name) else log.train
            series += [(step, _float(text)) for step, _, text in points]
        if "loss" in name and not _VALIDATION.search(name):
            log.clock = [(step, seconds) for step, seconds, _ in points]
            if points:
                text = "the steps of the metric are taken as optimizer steps"
                log.ask(log.speed_line, text)
        return log.reading(self.format, reference)


class MlflowParameterReader:
    """The file of one parameter: its name is the key, its content the value."""

    format = "mlflow_parameter"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the file lies among a run's parameters and is one short line."""
        return _PARAMETER_PATH.search(file.path) is not None and len(file.text) < 500

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the fact a parameter means, if any.

        Raises:
            FormatError: never.
        """
        match = _PARAMETER_PATH.search(file.path)
        log = RunLog(file)
        if match:
            log.option(match["name"].replace("/", "."), file.text.strip(), 1)
        return log.reading(self.format, reference)


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


META_READER = MlflowMetaReader()
METRIC_READER = MlflowMetricReader()
PARAMETER_READER = MlflowParameterReader()
