"""The inputs a written budget holds: what a refresh starts from."""

from dataclasses import dataclass

from pydantic import ValidationError

from compute_budget_planner.errors import FormatError, RequestError
from compute_budget_planner.markdown.machine_block import MachineBlock
from compute_budget_planner.markdown.marked_page import read_machine_block
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.requests import WriteBudgetRequest

INPUT_NAMES = (
    "files",
    "facts",
    "runs",
    "measured_runs",
    "baseline",
    "variants",
    "required_seeds",
    "grid",
    "claims",
)


@dataclass(frozen=True)
class StoredInputs:
    """What the budget was made from: the arguments of `write_budget`, and its files' hashes."""

    request: WriteBudgetRequest
    input_sha256: dict[str, str]


def budget_block(workspace: Workspace) -> MachineBlock | None:
    """Return the machine block of the written budget, None when there is no budget."""
    project = workspace.project
    if not (project.root / project.budget_path).is_file():
        return None
    return read_machine_block(project.read(project.budget_path).text, project.budget_path)


def stored_request(workspace: Workspace) -> StoredInputs:
    """Return the inputs of the written budget.

    Raises:
        RequestError: there is no budget to start from.
        FormatError: its machine block is missing or broken.
    """
    path = workspace.project.budget_path
    block = budget_block(workspace)
    if block is None:
        raise RequestError(
            "there is no budget to start from",
            where=path,
            remedy="Write one with write_budget, or pass `files` and `facts`.",
        )
    given = {name: block.inputs[name] for name in INPUT_NAMES if name in block.inputs}
    try:
        request = WriteBudgetRequest.model_validate(given)
    except ValidationError as error:
        fields = ", ".join(f"`{e['loc'][0]}`" for e in error.errors() if e["loc"])
        raise FormatError(
            f"the inputs in the machine block cannot be read: {fields}",
            where=path,
            remedy="Write the budget again from files and facts, without from_budget.",
        ) from error
    return StoredInputs(request, dict(block.input_sha256))


def refreshed(request: WriteBudgetRequest, stored: WriteBudgetRequest) -> WriteBudgetRequest:
    """Return a request over the stored one: lists grow, facts and names given anew win."""
    return request.model_copy(
        update={
            "files": list(dict.fromkeys([*stored.files, *request.files])),
            "facts": {**stored.facts, **request.facts},
            "runs": request.runs or stored.runs,
            "measured_runs": [*stored.measured_runs, *request.measured_runs],
            "baseline": request.baseline or stored.baseline,
            "required_seeds": request.required_seeds or stored.required_seeds,
            "grid": request.grid or stored.grid,
            "variants": [
                *(v for v in stored.variants if v.name not in {n.name for n in request.variants}),
                *request.variants,
            ],
            "claims": list(dict.fromkeys([*stored.claims, *request.claims])),
        }
    )


def changed_files(workspace: Workspace, stored: StoredInputs) -> list[str]:
    """Return the inputs that changed or vanished since the budget was written."""
    changed = []
    for path, digest in stored.input_sha256.items():
        file = workspace.project.root / path
        if not file.is_file() or workspace.project.sha256(path) != digest:
            changed.append(path)
    return changed
