"""What Lightning's CSVLogger writes: `metrics.csv`, and the hyperparameters in `hparams.yaml`.

`step` counts optimizer steps from 0 and is written every `log_every_n_steps`; rows of training and
validation alternate and leave each other's cells empty. There is no clock: the speed of the run
is not known from these files. Source: the CSVLogger in the documentation of Lightning.
"""

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.csv_table import header_of, rows_of
from compute_budget_planner.readers.nodes import Leaf
from compute_budget_planner.readers.run_log import RunLog
from compute_budget_planner.readers.structured import load_mapping, mapping_of

_TRAIN_LOSSES = ("train_loss", "train_loss_step", "train/loss", "train/loss_step", "loss")
_VALIDATION_LOSSES = ("val_loss", "val/loss", "valid_loss", "validation_loss", "val_loss_epoch")
_OTHER_NAMES = {"ff_hidden": "d_ff", "hidden_dim": "d_model", "num_params": "params_total"}


class LightningMetricsReader:
    """`metrics.csv`: how far a run came and its losses."""

    format = "lightning_metrics"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a CSV has the columns `epoch` and `step`."""
        return file.name.lower().endswith(".csv") and {"epoch", "step"} <= set(header_of(file))

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the steps made and the losses.

        Raises:
            FormatError: never; what is missing is a problem of the reading.
        """
        log = RunLog(file, "lightning")
        last, where = -1, None
        for line, row in rows_of(file):
            step = row.get("step")
            if step is None or not 0 <= step < 1e12:
                continue
            if step >= last:
                last, where = int(step), line
            for names, points in (
                (_TRAIN_LOSSES, log.train),
                (_VALIDATION_LOSSES, log.validation),
            ):
                value = next((row[name] for name in names if name in row), None)
                if value is not None:
                    points.append((step, value))
        log.say("steps_done", last + 1 or None, where)
        text = "the file holds no times: pass the job's log, or state `step_seconds`"
        log.ask(1, text)
        return log.reading(self.format, reference)


class LightningHparamsReader:
    """`hparams.yaml`: what the run was configured with."""

    format = "lightning_hparams"

    def matches(self, file: SourceFile) -> bool:
        """Tell by the name Lightning gives it; its content is the researcher's own."""
        return file.name.lower() == "hparams.yaml" and mapping_of(file) is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the hyperparameters as the configuration of an earlier run.

        Raises:
            FormatError: the file is broken.
        """
        document = load_mapping(file)
        log = RunLog(file, "lightning")
        leaves = list(document.leaves())
        for leaf in leaves:
            raw = list(leaf.value) if isinstance(leaf.value, tuple) else leaf.value
            name = _OTHER_NAMES.get(leaf.key.lower(), leaf.dotted)
            log.option(name, raw, leaf.line)
        _tell_devices(log, leaves)
        log.problems += document.problems
        return log.reading(self.format, reference)


def _tell_devices(log: RunLog, leaves: list[Leaf]) -> None:
    """Multiply the trainer's devices by its nodes; `auto` and -1 are whatever there was."""
    trainer = {leaf.key: leaf for leaf in leaves if leaf.sections[-1:] == ("trainer",)}
    devices, nodes = trainer.get("devices"), trainer.get("num_nodes")
    if devices is None:
        return
    count = len(devices.value) if isinstance(devices.value, tuple) else devices.value
    n_nodes = nodes.value if nodes is not None else 1
    if isinstance(count, int) and count >= 1 and isinstance(n_nodes, int) and n_nodes >= 1:
        log.say("n_gpus", count * n_nodes, devices.line)


METRICS_READER = LightningMetricsReader()
HPARAMS_READER = LightningHparamsReader()
