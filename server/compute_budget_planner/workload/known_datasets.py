"""The size of a known data set, where nobody gives the size of the one at hand."""

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.ledger import Ledger

DATASET_SIZES = ("dataset_examples", "dataset_tokens")


def complete_dataset(ledger: Ledger, reference: Reference) -> None:
    """Add examples and tokens of a known `dataset`; one size that was given keeps both out.

    The guide counts whole training parts: beside a size somebody gives, its other size would be
    that of other data.
    """
    name = ledger.text("dataset")
    known = reference.find_dataset(name) if name else None
    if known is None or any(ledger.has(size) for size in DATASET_SIZES):
        return
    for fact, value in zip(
        DATASET_SIZES, (known.dataset_examples, known.dataset_tokens), strict=True
    ):
        if value is not None:
            ledger.refer(fact, value, known.place)
