"""How many tuning trials a cell of a ledger means: a count, a product or both."""

import math
import re

_COUNT = re.compile(r"\d{1,6}")
_PRODUCT = re.compile(r"\d{1,6}(?:\s*(?:[a-z_-]{1,20}\s*)?[x×*]\s*\d{1,6}){1,9}(?![\w.])", re.I)
_TOTAL = re.compile(r"=\s*(\d{1,6})(?![\d.])")
MOST_TRIALS = 100_000


def trial_count(text: str) -> int | None:
    """Return the trials a text names: `20`, `20 trials`, `4 × 5`, `3 lr x 3 wd = 9`, `0`.

    A stated total wins over the product it belongs to. None when there is no count, when
    several numbers stand beside each other, or the count is past 100 000.
    """
    text = text[:200]
    if total := _TOTAL.search(text):
        count = int(total[1])
    elif product := _PRODUCT.search(text):
        count = math.prod(int(number) for number in _COUNT.findall(product[0]))
    else:
        numbers = re.findall(r"\d+(?:[.,]\d+)*", text)
        single = numbers[0].replace(",", "") if len(numbers) == 1 else ""
        if not _COUNT.fullmatch(single):
            return None
        count = int(single)
    return count if count <= MOST_TRIALS else None
