"""Texts that quote scripts and logs without being one: a code block of a README starts nothing."""

from compute_budget_planner.readers.contract import SourceFile

_ENDINGS = (".md", ".markdown", ".mdx", ".rst", ".adoc", ".ipynb", ".html")


def is_prose(file: SourceFile) -> bool:
    """Tell by its ending whether a file is written for people to read."""
    return file.name.lower().endswith(_ENDINGS)
