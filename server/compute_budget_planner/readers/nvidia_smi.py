"""The table of `nvidia-smi` in a log: which devices hold a process.

A host may have more devices than a run uses; those with a process of their own are taken as used.
Source: the output of `nvidia-smi` as its documentation shows it.
"""

import re

from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.log_lines import log_lines

_DEVICE = re.compile(r"^\|\s+(\d{1,3})\s{2,}(\S.{2,40}?)\s+(?:On|Off)\s+\|\s+[0-9A-Fa-f]{8}:")
_PROCESS = re.compile(r"^\|\s+(\d{1,3})\s+N/A\s+N/A\s+\d{1,9}\s+[CG+]{1,3}\s")


def devices_in_use(file: SourceFile) -> tuple[str | None, int | None, int | None]:
    """Return type and number of the devices with a process, and the line of the first.

    None where no table stands, where devices differ, or where no process is listed.
    """
    if "NVIDIA-SMI" not in file.text:
        return None, None, None
    names: dict[str, tuple[str, int]] = {}
    busy: set[str] = set()
    for number, line in log_lines(file, "|"):
        if match := _DEVICE.match(line):
            names.setdefault(match[1], (match[2].strip(), number))
        elif match := _PROCESS.match(line):
            busy.add(match[1])
    kinds = {name for name, _ in names.values()}
    if len(kinds) != 1:
        return None, None, None
    first = min(line for _, line in names.values())
    return kinds.pop(), len(busy & names.keys()) or None, first
