"""`update_memory`: risk, decision and evidence rows from the written budget, edited in place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compute_budget_planner.errors import RequestError
from compute_budget_planner.guide.shipped import skill_directory
from compute_budget_planner.markdown.board_ids import id_counters, raise_counter
from compute_budget_planner.markdown.boards import (
    LEDGER,
    Entry,
    board_edit,
    from_template,
    refuse_yaml_boards,
)
from compute_budget_planner.markdown.worktree_status import worktree_note
from compute_budget_planner.planner.budget.budgeting import taken_decisions
from compute_budget_planner.planner.budget.plan import make_plan
from compute_budget_planner.planner.budget.stored import stored_request
from compute_budget_planner.planner.memory.evidence import evidence_rows, worktree_lines
from compute_budget_planner.planner.memory.rows import (
    Remembered,
    decision_rows,
    follow_up_rows,
    risk_rows,
)
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.project import private_paths
from compute_budget_planner.requests import MemoryRequest
from compute_budget_planner.results import BoardOut, MemoryResult, NextStep

_PATHS = {
    "risk": "memory/risk-board.md",
    "decision": "memory/decision-log.md",
    "evidence": "memory/evidence-board.md",
    "action": "memory/action-board.md",
    "handoff": "memory/handoff-board.md",
    "convention": "memory/project-conventions.md",
}
_PROJECT_YAML = "memory/project.yaml"
_YAML_BOARDS = "memory/boards"


def update_memory(workspace: Workspace, request: MemoryRequest) -> MemoryResult:
    """Bring the project's memory boards up to the written budget.

    Raises:
        RequestError: there is no budget, or the project keeps its boards in another layout.
        FormatError: a board has no place for a row, or the budget's block is broken.
        ProjectError: a file may not be read or written; nothing was written.
    """
    project = workspace.project
    _refuse_other_layouts(workspace)
    stored = stored_request(workspace).request
    given = [private_paths(claim, project.root) for claim in request.claims]
    claims = list(dict.fromkeys([*stored.claims, *given]))
    plan = make_plan(workspace, stored, taken_decisions(workspace, []))
    remembered = Remembered(workspace, plan, tuple(claims), project.budget_path)
    if project.is_worktree:
        return _worktree(workspace, request, remembered)
    wanted: dict[str, str] = {name: _PATHS[name] for name in dict.fromkeys(request.boards)}
    entries, skipped = _entries(remembered, request.boards)
    with project.locked(*wanted.values(), _PROJECT_YAML):
        return _boards(workspace, request, wanted, entries, skipped)


def _refuse_other_layouts(workspace: Workspace) -> None:
    root = workspace.project.root
    folder = root / _YAML_BOARDS
    found = [f"{_YAML_BOARDS}/{p.name}" for p in folder.glob("*.y*ml")] if folder.is_dir() else []
    if (root / LEDGER).is_file():
        found.append(LEDGER)
    refuse_yaml_boards(found)


def _entries(
    remembered: Remembered, boards: Sequence[str]
) -> tuple[dict[str, list[Entry]], list[str]]:
    """Return the entries that are due by board name, and what is not due and why."""
    risks, no_risk = risk_rows(remembered)
    entries: dict[str, list[Entry]] = {
        "risk": list(risks),
        "decision": list(decision_rows(remembered)),
        "evidence": list(evidence_rows(remembered)),
    }
    entries.update(follow_up_rows(remembered, risks))
    skipped = list(no_risk)
    if not entries["decision"]:
        skipped.append("decision: no accepted alternative changes the design")
    if any(row.severity in ("high", "fatal") for row in risks) and "action" not in boards:
        skipped.append("action: a high risk needs an action; add `action` to `boards`")
    return {name: entries.get(name, []) for name in boards}, skipped


@dataclass(frozen=True)
class _Edited:
    """A board's new text, or None when it stays as it is."""

    out: BoardOut
    text: str | None
    counters: Mapping[str, int]


def _boards(
    workspace: Workspace,
    request: MemoryRequest,
    wanted: Mapping[str, str],
    entries: Mapping[str, list[Entry]],
    skipped: list[str],
) -> MemoryResult:
    project = workspace.project
    yaml_text = _text(workspace, _PROJECT_YAML)
    counters = id_counters(yaml_text) if yaml_text is not None else {}
    edited: list[_Edited] = []
    for name, path in wanted.items():
        edit = _edit(workspace, path, entries[name], counters, create=request.create_boards)
        counters = {**counters, **edit.counters}
        edited.append(edit)
    raised = {name: value for edit in edited for name, value in edit.counters.items()}
    outs = [edit.out for edit in edited]
    new_yaml = yaml_text
    if new_yaml is not None:
        for name, value in raised.items():
            new_yaml = raise_counter(new_yaml, name, value)
        outs.append(_yaml_out(workspace, yaml_text, new_yaml))
    if not request.dry_run:
        for edit in edited:
            if edit.text is not None:
                project.write_text(edit.out.path, edit.text)
        if new_yaml is not None and new_yaml != yaml_text:
            project.write_text(_PROJECT_YAML, new_yaml)
    if not request.dry_run:
        outs = [out.model_copy(update={"diff": ""}) for out in outs]
    result = MemoryResult(
        summary="",
        dry_run=request.dry_run,
        boards=outs,
        id_counters=raised if yaml_text is not None else {},
        skipped=skipped,
        next=_next(request, outs),
    )
    return result.model_copy(update={"summary": _summary(result)})


def _text(workspace: Workspace, path: str) -> str | None:
    if not (workspace.project.root / path).is_file():
        return None
    return workspace.project.read(path).text


def _edit(
    workspace: Workspace,
    path: str,
    entries: Sequence[Entry],
    counters: Mapping[str, int],
    *,
    create: bool,
) -> _Edited:
    """Return a board with its entries, or why it is left alone."""
    if not entries:
        return _Edited(BoardOut(path=path, action="unchanged", why="nothing is due"), None, {})
    text = _text(workspace, path)
    action = "updated"
    if text is None:
        if not create:
            why = "the board does not exist; `create_boards` makes it from the template"
            return _Edited(BoardOut(path=path, action="missing", why=why), None, {})
        text = from_template(path, _templates(), workspace.project.name)
        action = "created"
    update = board_edit(path, text, entries, counters)
    notes = "; ".join(edit.note for edit in update.edits if edit.note)
    ids = [edit.id for edit in update.edits if edit.id]
    if update.text == text and action == "updated":
        out = BoardOut(path=path, action="unchanged", ids=ids, why=notes)
        return _Edited(out, None, {})
    diff = workspace.project.unified_diff(path, update.text)
    out = BoardOut.model_validate(
        {"path": path, "action": action, "ids": ids, "why": notes, "diff": diff}
    )
    return _Edited(out, update.text, update.counters)


def _templates() -> dict[str, str]:
    folder = skill_directory() / "memory_templates"
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}


def _yaml_out(workspace: Workspace, before: str | None, after: str) -> BoardOut:
    if before == after:
        return BoardOut(path=_PROJECT_YAML, action="unchanged", why="no counter to raise")
    diff = workspace.project.unified_diff(_PROJECT_YAML, after)
    return BoardOut(path=_PROJECT_YAML, action="updated", why="id counters", diff=diff)


def _worktree(workspace: Workspace, request: MemoryRequest, remembered: Remembered) -> MemoryResult:
    """Write the worktree's own status: boards belong to the whole project."""
    project = workspace.project
    path = project.worktree_status_path
    if path is None:
        raise RequestError("this is no worktree", remedy="Name the project's root.")
    with project.locked(path):
        before = _text(workspace, path) or ""
        after = worktree_note(before, worktree_lines(remembered))
        changed = before != after
        diff = project.unified_diff(path, after) if changed else ""
        if changed and not request.dry_run:
            project.write_text(path, after)
    out = BoardOut(
        path=path,
        action="updated" if changed else "unchanged",
        why="a worktree keeps its own status; boards are written from the project's root",
        diff=diff if request.dry_run else "",
    )
    result = MemoryResult(summary="", dry_run=request.dry_run, boards=[out])
    return result.model_copy(update={"summary": _summary(result)})


def _next(request: MemoryRequest, outs: Sequence[BoardOut]) -> list[NextStep]:
    if request.dry_run and any(out.action in ("created", "updated") for out in outs):
        arguments = request.model_dump(mode="json", exclude_defaults=True, exclude={"dry_run"})
        return [NextStep(tool="update_memory", arguments=arguments)]
    if any(out.action == "missing" for out in outs):
        arguments = request.model_dump(mode="json", exclude_defaults=True)
        return [
            NextStep(
                tool="update_memory",
                arguments={**arguments, "create_boards": True},
                question="Shall the missing boards be made from the templates?",
            )
        ]
    return []


def _summary(result: MemoryResult) -> str:
    verb = "Would change" if result.dry_run else "Changed"
    changed = [out for out in result.boards if out.action in ("created", "updated")]
    if changed:
        listed = ", ".join(
            f"`{out.path}`" + (f" ({', '.join(out.ids)})" if out.ids else "") for out in changed
        )
        text = f"{verb} {listed}."
    else:
        text = "Nothing to change."
    missing = [out.path for out in result.boards if out.action == "missing"]
    if missing:
        text += f" Missing: {', '.join(missing)}."
    return text + "".join(f" {line}." for line in result.skipped)
