"""What a job asks for beside accelerators and time: host cores, host memory, its environment."""

from collections.abc import Mapping

from compute_budget_planner.readers.shell_script import ShellScript
from compute_budget_planner.workload.facts import FactValue

_ACTIVATING = ("conda", "mamba", "micromamba", "source")  # `source activate` before conda 4.4


def job_needs(
    script: ShellScript, cpus_per_task: str | None, mem: str | None
) -> Mapping[str, FactValue]:
    """Return the notes `cpus_per_task`, `mem` and `conda_env` of a job, as far as it says them.

    `conda_env` is the conda environment the script activates, or the folder of its virtual
    environment.
    """
    notes: dict[str, FactValue] = {}
    if cpus_per_task and cpus_per_task.isdigit():
        notes["cpus_per_task"] = int(cpus_per_task)
    if mem and not set(mem) & set("{}$"):
        notes["mem"] = mem
    environment = _environment(script)
    if environment:
        notes["conda_env"] = environment
    return notes


def _environment(script: ShellScript) -> str:
    found = ""
    for command in script.commands:
        words = command.words
        if len(words) < 2:
            continue
        if words[0] in ("source", ".") and words[1].endswith("/bin/activate"):
            found = words[1].removesuffix("/bin/activate")
        elif words[0] in _ACTIVATING and words[1] == "activate":
            found = words[2] if len(words) > 2 else "base"
    return "" if set(found) & set("{}$") else found
