"""Boards as many hands leave them, whole and as a generator."""

from hypothesis import strategies as st

RISK_COLUMNS = (
    "ID", "Kind", "Status", "Severity", "Probability", "Summary", "Threatens", "Mitigation",
    "Actions", "Certainty", "Updated",
)  # fmt: skip
RULE = "| --- " * len(RISK_COLUMNS) + "|\n"
RISK_HEADER = f"| {' | '.join(RISK_COLUMNS)} |\n{RULE}"

RISKS = (
    "# Risk Board\n\nSee RSK-019 in the old board.\n\n"
    + RISK_HEADER
    + "| RSK-000 | kind | status | severity | probability | summary | | | | certainty | date |\n"
    "| RSK-002 | maintenance | open | low | low | Second \\| of two: yes | DEC-028 | — | — "
    "| verified | 2026-01-02 |\n"
    "\n"
    "| RSK-001 | token-efficiency | pending | low | low | First | — |  | | official-docs-verified "
    "| 2026-01-01 |\n"
    "\n"
    "```\n"
    "| ID | Kind | Status | Summary |\n|---|---|---|---|\n"
    "| RSK-020 | execution | open | In a fence |\n"
    "```\n"
    "<!--\n| ID | Summary |\n|---|---|\n| RSK-018 | In a comment |\n-->\n"
    "\n## RSK-007 - Missing or unfair baseline: [x]\n- Status: open\n- Severity: major\n"
    "\n| RSK-006 | execution | open | low | low | Below a block | | | | inferred | 2026-01-03 |\n"
    "\n## Accepted Risks\n\n- RSK-ART-002: ours to bear.\n"
)

# Pieces that can stand between two parts of a board without changing how those are read.
_TEXTS = st.sampled_from(
    [
        "Prose about RSK-011 | and DEC-2026-05-02.\n",
        "```text\n| ID | Summary |\n|---|---|\n| RSK-030 | fenced |\n```\n",
        "<!-- | RSK-012 | hidden | -->\n",
        "> | ID | Summary |\n> |---|---|\n> | RSK-013 | quoted |\n",
        "    | RSK-014 | indented |\n",
        "| RSK-015 | execution | open | high | high | a fragment |\n",
        "### RSK-016 - A block\n- Status: open\n",
        "\n\n",
        "",
    ]
)
_COLUMN_ORDERS = st.permutations(RISK_COLUMNS).flatmap(
    lambda order: st.lists(
        st.sampled_from([*order, "Weakens", "Owner"]), min_size=1, max_size=11, unique=True
    ).map(lambda some: list(dict.fromkeys(["ID", *some, "Summary"])))
)
_CELLS = st.sampled_from(["", "—", "open", "high", "a \\| b", "`x`", "CLM-001; CLM-002", "–", "ü"])


@st.composite
def risk_boards(draw: st.DrawFn) -> str:
    """Return a risk board with one risk table, odd in every way a table may be."""
    columns = draw(_COLUMN_ORDERS)
    numbers = draw(st.lists(st.integers(0, 40), max_size=6, unique=True))
    rule = draw(st.sampled_from(["|---" * len(columns) + "|", "| :-: |", "|--|--|--|"]))
    lines = [f"| {' | '.join(columns)} |\n", f"{rule}\n"]
    for number in numbers:
        cells = [draw(_CELLS) for _ in columns[1:]]
        short = draw(st.integers(0, len(cells)))
        row = " | ".join([f"RSK-{number:03d}", *cells[:short]])
        lines.append(f"| {row}{draw(st.sampled_from([' |', '', '|  ']))}\n")
        lines.append(draw(st.sampled_from(["", "", "", "\n"])))
    before, between, after = (draw(_TEXTS) for _ in range(3))
    accepted = (
        "## Accepted Risks\n\n| ID | Summary | Why |\n|---|---|---|\n| RSK-017 | Old | us |\n"
    )
    tail = draw(st.sampled_from(["", "\n## Accepted Risks\n\n- RSK-009: known\n", f"\n{accepted}"]))
    board = f"# Risk Board\n\n{before}\n{''.join(lines)}\n{between}\n{tail}{after}"
    board = draw(st.sampled_from(["", "\ufeff"])) + board
    if draw(st.booleans()):
        board = board.rstrip("\n")
    return board.replace("\n", "\r\n") if draw(st.booleans()) else board
