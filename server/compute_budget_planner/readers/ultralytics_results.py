"""`results.csv` of Ultralytics: one row an epoch, with the time since the start.

`time` adds up from row to row and includes validation; files of YOLOv5 and of older versions have
no such column. Fewer epochs than planned may be an early stop. Source: the documentation of
ultralytics (`save_metrics`).
"""

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.csv_table import header_of, rows_of
from compute_budget_planner.readers.run_log import RunLog
from compute_budget_planner.readers.step_speed import steady_speed, stretches

_HALLMARKS = ("train/box_loss", "train/loss", "train/cls_loss")
_LOSSES = ("box_loss", "cls_loss", "dfl_loss", "obj_loss", "seg_loss", "pose_loss", "loss")


class UltralyticsResultsReader:
    """The table Ultralytics writes beside the weights."""

    format = "ultralytics_results"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a CSV begins with the epoch and has a training loss of Ultralytics."""
        if not file.name.lower().endswith(".csv"):
            return False
        names = header_of(file)
        return names[:1] == ("epoch",) and any(name in names for name in _HALLMARKS)

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return duration, seconds per epoch (in the notes) and losses summed over their parts.

        Raises:
            FormatError: never; what is missing is a problem of the reading.
        """
        log = RunLog(file, "ultralytics", loss_unit="epochs")
        clock: list[tuple[int, float]] = [(0, 0.0)]
        last_line = 1
        for line, row in rows_of(file):
            last_line = line
            epoch = row.get("epoch")
            if epoch is None or not 0 <= epoch < 1e9:
                continue
            if "time" in row:
                clock.append((int(epoch), row["time"]))
            for name, points in (("train", log.train), ("val", log.validation)):
                parts = [row[f"{name}/{part}"] for part in _LOSSES if f"{name}/{part}" in row]
                if parts:
                    points.append((epoch, sum(parts)))
        if len(clock) > 1:
            log.say("wall_clock_hours", clock[-1][1] / 3600 or None, last_line)
            log.notes["epochs_done"] = clock[-1][0]
            speed = steady_speed(stretches(clock))
            if speed is not None:
                log.notes["seconds_per_epoch"] = speed.step_seconds
        else:
            text = "there is no `time` column: how long the run took is not known from this file"
            log.ask(1, text)
        text = "whether the last row is the planned end or an early stop stands in `args.yaml`"
        log.ask(last_line, text)
        return log.reading(self.format, reference)


READER = UltralyticsResultsReader()
