"""The state Hugging Face Accelerate prints when training starts, once for each process.

    Distributed environment: DEEPSPEED  Backend: nccl
    Num processes: 32
    Local process index: 2
    Mixed precision type: bf16
    ds_config: {'bf16': {'enabled': True}, 'zero_optimization': {'stage': 3, ...

The log of one node shows that node's local indices; together with the processes in all they tell
the nodes, when they are complete and the same on each. Source: the documentation of
`accelerate.state.AcceleratorState`.
"""

import re
from collections.abc import Iterable, Iterator

from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.direct_facts import DirectValue

MARKS = ("Num processes:", "Local process index:", "Process index:", "Mixed precision type:")
_FIELD = re.compile(
    r"\b(Num processes|Local process index|Process index|Mixed precision type):\s*(\w{1,20})\s*$"
)
_STAGE = re.compile(r"ds_config: \{.{0,600}?'zero_optimization': \{'stage': ([0-3])\b")


def state_values(file: SourceFile, lines: Iterable[tuple[int, str]]) -> Iterator[DirectValue]:
    """Yield devices, nodes, precision and sharding; `lines` may hold any others."""
    processes, first = 0, 0
    local: set[int] = set()
    every: set[int] = set()
    for number, line in lines:
        if match := _FIELD.search(line):
            name, text = match[1], match[2]
            if name == "Mixed precision type":
                yield "precision", text, file.at(number)
            elif text.isdecimal() and name == "Num processes":
                processes, first = int(text), number
            elif text.isdecimal():
                (local if name == "Local process index" else every).add(int(text))
        elif (stage := _STAGE.search(line)) and stage[1] != "0":
            yield "sharding", f"zero{stage[1]}", file.at(number)
    if processes < 1:
        return
    where = file.at(first)
    yield "n_gpus", processes, where
    on_node = len(local)
    complete = local == set(range(on_node)) and processes % max(on_node, 1) == 0
    # One node's log: each of its local indices belongs to one process.
    if on_node > 1 and complete and len(every) == on_node:
        yield "gpus_per_node", on_node, where
        yield "n_nodes", processes // on_node, where
