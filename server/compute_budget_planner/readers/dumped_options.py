"""The options of a run as programs repeat them at the start of a log.

num_layers ...................................... 64      dots, as Megatron and DeepSpeed print
- batch_size : 104                                    a list with dashes
Namespace(batch_size=104, lr=0.01)                        argparse's own form
"""

import re
from collections.abc import Iterable, Iterator

_DOTS = re.compile(
    r"\s{0,8}(?P<name>[A-Za-z_]\w{1,60})\s(?:\.{2,80}\s|\s)\s*(?P<value>\S.{0,400})?$"
)
_DASHES = re.compile(r"\s{0,8}-\s(?P<name>[A-Za-z_]\w{1,60})\s?:\s(?P<value>.{0,400})$")

Dumped = tuple[str, str, int]
"""Name, value as printed, line."""


def dotted_option(line: str) -> tuple[str, str] | None:
    """Return name and value of a line such as `num_layers ........ 64`."""
    match = _DOTS.match(line)
    return (match["name"], (match["value"] or "").strip()) if match else None


def dashed_options(lines: Iterable[tuple[int, str]]) -> Iterator[Dumped]:
    """Yield the options of lines such as `    - batch_size : 104`."""
    for number, line in lines:
        if match := _DASHES.match(line):
            yield match["name"], match["value"].strip(), number
