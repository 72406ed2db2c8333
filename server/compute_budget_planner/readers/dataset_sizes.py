"""What all readers of data say: examples and tokens, with how they were found."""

import re
from collections.abc import Iterable, Mapping

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Basis, Layer, Problem, Reading
from compute_budget_planner.readers.direct_facts import direct_facts
from compute_budget_planner.workload.facts import FactValue

KIND = "dataset"
HELD_OUT = re.compile(r"(?:^|[/_.-])(?:val|validation|valid|test|eval|dev)(?=[/_.\d-]|$)", re.I)
"""Found in the paths of data that is not trained on."""


def dataset_reading(
    path: str,
    format_: str,
    reference: Reference,
    *,
    examples: int | None = None,
    tokens: int | None = None,
    counted: bool = True,
    notes: Mapping[str, FactValue] | None = None,
    problems: Iterable[Problem] = (),
) -> Reading:
    """Return a reading of data; `counted` says that the examples are no estimate.

    What a configuration says of its data stands above what lies on disk.
    """
    basis = Basis.CONFIGURED if counted else Basis.DERIVED
    sizes, faults = direct_facts(
        [("dataset_examples", examples or None, path)], basis, Layer.MODEL_CONFIG, reference
    )
    lengths, more = direct_facts(
        [("dataset_tokens", tokens or None, path)], Basis.DERIVED, Layer.MODEL_CONFIG, reference
    )
    return Reading(
        path,
        format_,
        KIND,
        facts=sizes + lengths,
        problems=(*faults, *more, *problems),
        notes=notes or {},
    )
