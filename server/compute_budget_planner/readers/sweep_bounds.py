"""What all readers of sweeps say alike: values that differ, and how many runs at most."""

from collections.abc import Iterator, Sequence

from compute_budget_planner.readers.contract import Problem
from compute_budget_planner.readers.framework_reader import Settings

MOST_RUNS = 10**6
_LISTED = 8


def differing(settings: Settings, place: str, names: Sequence[str]) -> Iterator[Problem]:
    """Yield what to ask when runs of a sweep differ in these settings."""
    if not names:
        return
    shown = ", ".join(f"`{name[:60]}`" for name in names[:_LISTED])
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    yield settings.ask(
        f"the runs differ in {shown}{more}, and may differ in cost. State the values of the run"
        " to be estimated, or cost the runs as variants.",
        place,
    )
