"""What every tool works on: the project, the reference pages in force, and the date."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from compute_budget_planner.errors import ProjectError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.project import Project


@dataclass(frozen=True)
class Workspace:
    """A project, the guide with the lab's own rows laid over it, and today's date."""

    project: Project
    reference: Reference
    today: date


def open_workspace(
    root: Path, guide_pages: Sequence[Path] = (), *, start: Path | None = None
) -> Workspace:
    """Open the project at `root`; its lab page and `guide_pages` win over the shipped guide.

    `start` is the folder a person stands in: a linked worktree around it, inside the root, is
    the one worked in.

    Raises:
        ProjectError: the root is no folder, or a guide page cannot be read.
        GuideError: a page holds a broken table.
    """
    project = Project(root)
    if start is not None and start.resolve().is_relative_to(project.root):
        around = Project.around(start)
        project = around if around.root == project.root else project
    pages = [*_lab_page(project), *read_guide_pages(guide_pages)]
    return Workspace(project, load_reference(pages), datetime.now(tz=UTC).date())


def _lab_page(project: Project) -> list[tuple[str, str]]:
    path = project.lab_page_path
    return [(path, project.read(path).text)] if (project.root / path).is_file() else []


def read_guide_pages(guide_pages: Sequence[Path]) -> list[tuple[str, str]]:
    """Return name and text of the pages a person names; they may lie outside the project.

    Raises:
        ProjectError: a page cannot be read.
    """
    pages = []
    for page in guide_pages:
        try:
            pages.append((page.name, page.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            raise ProjectError(
                f"the guide page cannot be read ({type(error).__name__})",
                where=page.name,
                remedy="Name a Markdown page with tables of the guide.",
            ) from error
    return pages
