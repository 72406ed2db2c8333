"""Determined AI experiments (format `determined`).

`slots_per_trial` are the accelerators of one trial (default 1); `global_batch_size` counts the
whole trial; `max_length` is one of batches, records or epochs. A search that stops trials early
costs at most trials times length. Source: Determined's experiment configuration reference.
"""

import re

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.config_options import options_of
from compute_budget_planner.readers.container_script import (
    NO_COMMANDS,
    container_script,
    text_of,
    variables_of,
)
from compute_budget_planner.readers.contract import Basis, Fact, Layer, Reading, SourceFile
from compute_budget_planner.readers.job_reading import Granted, job_reading, whole_number
from compute_budget_planner.readers.nodes import Document, Node
from compute_budget_planner.readers.option_names import facts_from_options
from compute_budget_planner.readers.structured import load_mapping, mapping_of

_SEARCHED = {"minval", "maxval", "vals", "count", "base"}
_CLASS = re.compile(r"[\w.]+:\w+")
_OWN = ("searcher", "resources", "min_validation_period", "min_checkpoint_period", "environment")


class DeterminedReader:
    """Reader of experiment configurations."""

    format = "determined"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a mapping has a searcher and an entrypoint, or slots of a trial."""
        document = mapping_of(file) if file.name.endswith((".yaml", ".yml")) else None
        if document is None:
            return False
        root = document.root
        named = root.get("searcher", "name") is not None and root.get("entrypoint") is not None
        return named or root.get("resources", "slots_per_trial") is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return slots, length, hyperparameters that are fixed, and trials.

        Raises:
            FormatError: the YAML is broken.
        """
        document = load_mapping(file)
        root = document.root
        granted = Granted(problems=list(document.problems), job_name=text_of(root.get("name")))
        _slots(file, granted, root.get("resources", "slots_per_trial"))
        settings = {
            key: node for key, node in _fixed(file, granted, root).items() if key not in _OWN
        }
        options = options_of(file, list(Document(Node(settings, None), ()).leaves()))
        options = [(name, raw, at) for name, raw, at in options if name != "name"]
        facts, problems = facts_from_options(options, "determined", Layer.CONFIG, reference)
        granted.facts += facts
        granted.problems += problems
        _length(file, granted, root)
        _trials(file, granted, root.get("searcher"))
        entry = root.get("entrypoint")
        known = variables_of(root.get("environment", "environment_variables"))
        known["DET_SLOTS"] = str(granted.n_gpus or "")
        script = NO_COMMANDS
        if entry is not None and not _CLASS.fullmatch(text_of(entry)):
            script = container_script(file, entry, None, {k: v for k, v in known.items() if v})
        return job_reading(file, self.format, granted, script, reference)


def _slots(file: SourceFile, granted: Granted, node: Node | None) -> None:
    if node is None:
        fact = Fact("n_gpus", 1, Basis.FRAMEWORK_DEFAULT, file.path, Layer.FRAMEWORK_DEFAULT)
        granted.facts.append(fact)
        return
    granted.gpus_at = file.at(node.line)
    granted.n_gpus = whole_number(text_of(node))
    if granted.n_gpus is None:
        granted.ask(granted.gpus_at, "`slots_per_trial` is no count of GPUs. Give `n_gpus`.")


def _fixed(file: SourceFile, granted: Granted, root: Node) -> dict[str, Node]:
    """Return the settings without hyperparameters that the search varies, which are asked about."""
    members = dict(root.mapping)
    varied = members.pop("hyperparameters", None)
    for name, node in (varied.mapping if varied is not None else {}).items():
        if "type" in node.mapping and _SEARCHED & node.mapping.keys():
            text = f"`{name[:60]}` is searched over: each trial has a value of its own."
            granted.ask(file.at(node.line), text)
        else:
            value = node.get("val")
            members.setdefault(name, node if value is None else value)
    return members


def _length(file: SourceFile, granted: Granted, root: Node) -> None:
    records = whole_number_of(root.get("records_per_epoch"))
    if records is not None:
        _add(file, granted, "dataset_examples", *records)
    length = root.get("searcher", "max_length")
    for unit, node in (length.mapping if length is not None else {}).items():
        count = whole_number_of(node)
        if count is None:
            granted.ask(file.at(node.line), f"`max_length.{unit[:20]}` is no count.")
        elif unit in ("epochs", "batches"):
            _add(file, granted, "epochs" if unit == "epochs" else "max_steps", *count)
        elif unit == "records" and records is not None:
            _add(file, granted, "epochs", count[0] / records[0], count[1])
        else:
            text = "the length is in records: give `epochs` or `records_per_epoch`."
            granted.ask(file.at(node.line), text)


def whole_number_of(node: Node | None) -> tuple[int, int | None] | None:
    """Return a count of at least 1 and its line."""
    text = text_of(node).replace("_", "")
    if node is None or not re.fullmatch(r"[1-9]\d{0,14}", text):
        return None
    return int(text), node.line


def _add(file: SourceFile, granted: Granted, name: str, value: float, line: int | None) -> None:
    granted.facts = [fact for fact in granted.facts if fact.name != name]
    granted.facts.append(Fact(name, value, Basis.CONFIGURED, file.at(line), Layer.CONFIG))


def _trials(file: SourceFile, granted: Granted, searcher: Node | None) -> None:
    kind = text_of(searcher.get("name")) if searcher is not None else ""
    if searcher is None or kind in ("", "single", "custom"):
        return
    place = file.at(searcher.line)
    trials = whole_number_of(searcher.get("max_trials"))
    if trials is None:
        granted.ask(place, f"the search `{kind[:30]}` has no count. Give `tuning_trials`.")
        return
    _add(file, granted, "tuning_trials", *trials)
    if "asha" in kind or "halving" in kind:
        text = f"`{kind[:30]}` stops most trials early: {trials[0]} full trials are the most."
        granted.ask(place, text)


READER = DeterminedReader()
