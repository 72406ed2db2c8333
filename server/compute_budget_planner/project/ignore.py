"""Whether git ignores a file, found without running git.

The rules are those of gitignore(5): going down from the top of the repository, the first folder
that is excluded excludes all below it; for each step the nearest ignore file with a matching line
decides, and in it the last such line; `.git/info/exclude` comes after all `.gitignore` files. The
user's global excludes file and whatever lies outside the project are not read, and the index is
not looked at: a file that was added by force is still reported.
"""

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from compute_budget_planner.project.redaction import clean_text
from compute_budget_planner.project.root import git_directory

_MAX_BYTES = 1 << 20


@dataclass(frozen=True)
class _Line:
    """A pattern line of an ignore file."""

    place: str
    text: str

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Return True if the line ignores `path`, False if it takes it back, None if neither."""
        from pathspec import GitIgnoreSpec

        # `a/` names a folder; `a/**` names what is in one, which for pathspec begins at `a/`.
        name = f"{path}/" if is_folder and self.text.rstrip().endswith("/") else path
        try:
            pattern = GitIgnoreSpec.from_lines([self.text]).patterns[0]
            result = pattern.match_file(name)
        except ValueError:  # git passes over a line that is no pattern
            return None
        if result is None or _names_a_folder_above(result.match, name):
            return None
        return pattern.include


def _names_a_folder_above(match: re.Match[str], name: str) -> bool:
    """Tell whether a folder on the way to `name` matched, which git asks about by itself.

    pathspec lets a pattern for a folder match all below it, and marks the slash where it ended.
    """
    if "ps_d" not in match.re.groupindex:
        return False
    ends = [other.start("ps_d") for other in match.re.finditer(name)]
    return not {-1, len(name) - 1} & set(ends)


def ignoring_line(root: Path, path: str) -> str | None:
    """Return `file:line (pattern)` of the line that ignores `path`, or None.

    `path` is relative to `root` and need not exist. A folder of the project with its own `.git`
    is a repository of its own: rules above it do not reach in.
    """
    steps = [PurePosixPath(path), *PurePosixPath(path).parents][::-1]
    tops = [step for step in steps[:-1] if git_directory(root / step) is not None]
    top = tops[-1] if tops else PurePosixPath(".")
    below = [step for step in steps if step != top and step.is_relative_to(top)]
    sources = [(top, _lines_of(root, top / ".gitignore"))]
    exclude = (top, _lines_of(root, _exclude_file(root, top)))
    for step in below:
        for folder, lines in (*reversed(sources), exclude):
            name = step.relative_to(folder).as_posix()
            verdicts = ((x, x.verdict(name, is_folder=step != steps[-1])) for x in reversed(lines))
            line, ignored = next((v for v in verdicts if v[1] is not None), (None, None))
            if line is not None and ignored:
                return f"{line.place} ({clean_text(line.text, 80)})"
            if line is not None:
                break
        sources.append((step, _lines_of(root, step / ".gitignore")))
    return None


def _exclude_file(root: Path, top: PurePosixPath) -> PurePosixPath:
    """Return info/exclude of the repository, which linked worktrees share with the main one."""
    git = git_directory(root / top)
    if git is None:
        return top / ".git/info/exclude"
    common = git.resolve().parent.parent if git.parent.name == "worktrees" else git.resolve()
    if not common.is_relative_to(root):
        return top / ".git/info/exclude"
    return PurePosixPath(common.relative_to(root).as_posix()) / "info/exclude"


def _lines_of(root: Path, relative: PurePosixPath) -> list[_Line]:
    file = root / relative
    try:
        # git follows no symlink here either.
        if file.is_symlink() or not file.is_file() or not file.resolve().is_relative_to(root):
            return []
        with file.open("rb") as stream:
            text = stream.read(_MAX_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return []
    return [
        _Line(f"{relative.as_posix()}:{number}", line)
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip() and not line.startswith("#")
    ]
