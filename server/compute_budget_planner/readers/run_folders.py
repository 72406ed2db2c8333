"""Files that one run writes side by side: each tells a part of what the run was."""

import posixpath
from collections.abc import Iterable, Mapping

from compute_budget_planner.readers.contract import Reading

_FAMILIES = (
    {"wandb_metadata", "wandb_summary", "wandb_config", "log_text"},
    {"lightning_metrics", "lightning_hparams"},
)


def companions(
    path: str, paths: Iterable[str], readings: Mapping[str, Reading]
) -> tuple[Reading, ...]:
    """Return the readings among `paths` that one run wrote beside a file, without its own.

    Plain logs of several jobs lie in one folder too: they belong together only beside a file
    that marks the folder as a run's.
    """
    folder = posixpath.dirname(path)
    near = [readings[p] for p in paths if posixpath.dirname(p) == folder]
    for family in _FAMILIES:
        members = [reading for reading in near if reading.format in family]
        marked = any(reading.format != "log_text" for reading in members)
        if marked and readings[path].format in family:
            return tuple(reading for reading in members if reading.path != path)
    return ()
