"""How many seeds a cell of a plan means: a count, a list or a range."""

import re

_RANGE = re.compile(r"(\d{1,9})\s*(?:-|–|\.\.\.?|to)\s*(\d{1,9})")
_LIST = re.compile(r"\d{1,9}(?:\s*[,;/+]\s*(?:and\s+)?\d{1,9})+")
_COUNT_BEFORE_LIST = re.compile(r"\s*\d+\s*(?:seeds?|repeats?|runs?)?\s*\(")
_COUNT = re.compile(r"(\d{1,4})(?![\d.])")
_LARGEST_COUNT = 20
MOST_SEEDS = 1_000


def seed_count(text: str) -> int | None:
    """Return the seeds a text names: `3`, `3 seeds (42, 43, 44)`, `42, 43, 44`, `0-4`.

    A count before a list wins, for the list only names what the count counts. A single number
    that can be no count (above 20), and 0, name one seed. None when there is no number, or the
    range runs backwards or past 1000.
    """
    head = text.partition("(")[0] if _COUNT_BEFORE_LIST.match(text) else text
    if listed := _LIST.search(head):
        return len(re.findall(r"\d+", listed[0]))
    if ranged := _RANGE.search(head):
        count = int(ranged[2]) - int(ranged[1]) + 1
        return count if 1 <= count <= MOST_SEEDS else None
    if single := _COUNT.search(head):
        count = int(single[1])
        return count if 1 <= count <= _LARGEST_COUNT else 1
    return None
