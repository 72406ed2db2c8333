"""Every family of files there is, and the one function that reads a file.

The first reader whose test holds takes the file, so what is specific stands before what is
general. A further format is a module with a `READER` and a line here.
"""

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers import (
    accelerate,
    accounting,
    baseline_audit,
    data_plan,
    deepspeed,
    design_plan,
    environments,
    hf_args,
    hf_config,
    hf_results,
    local_job,
    log_text,
    memory_boards,
    research_config,
    runai,
    slurm,
    trainer_state,
)
from compute_budget_planner.readers.contract import Reader, Reading, SourceFile

READERS: tuple[Reader, ...] = (
    environments.READER,
    slurm.READER,
    runai.READER,
    accelerate.READER,
    deepspeed.READER,
    trainer_state.READER,
    hf_results.READER,
    hf_config.READER,
    hf_args.READER,
    baseline_audit.READER,
    memory_boards.READER,
    design_plan.READER,
    data_plan.READER,
    log_text.READER,
    accounting.READER,
    local_job.READER,
    research_config.READER,
)


def read_file(file: SourceFile, reference: Reference) -> Reading:
    """Return what the first reader that knows the file finds in it.

    A file nobody knows gives a reading of kind `unknown` without facts.

    Raises:
        FormatError: the file is of a known format but broken; the place is named.
    """
    for reader in READERS:
        if reader.matches(file):
            return reader.read(file, reference)
    return Reading(path=file.path, format="unknown", kind="unknown")
