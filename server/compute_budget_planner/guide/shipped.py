"""Where the shipped skill files lie, and the reference built from them."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from compute_budget_planner.errors import GuideError
from compute_budget_planner.guide.reference import Reference, build_reference

_PACKAGE = Path(__file__).resolve().parent.parent


def skill_directory() -> Path:
    """Return the folder that holds SKILL.md, references/ and memory_templates/.

    A wheel carries them inside the package; an editable install finds them in the checkout.

    Raises:
        GuideError: neither place has them.
    """
    for candidate in (_PACKAGE / "_skill", _PACKAGE.parent.parent):
        if (candidate / "references" / "estimation-guide.md").is_file():
            return candidate
    raise GuideError(
        "references/estimation-guide.md is not installed with the package",
        remedy="Reinstall compute-budget-planner.",
    )


@lru_cache(maxsize=8)
def _load(lab_pages: tuple[tuple[str, str], ...]) -> Reference:
    folder = skill_directory() / "references"
    pages = [
        (f"references/{path.name}", path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("*.md"))
    ]
    return build_reference([*pages, *lab_pages])


def load_reference(lab_pages: Sequence[tuple[str, str]] = ()) -> Reference:
    """Return the shipped reference, with a lab's own (name, text) pages laid over it."""
    return _load(tuple(lab_pages))
