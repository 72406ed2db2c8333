"""Text of a project cannot change the page it stands on."""

import pytest
from compute_budget_planner.markdown.escape import (
    MAX_CHARACTERS,
    code,
    escaped,
    fence_around,
    plain,
)
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = (
    st.text(st.sampled_from("|`*_~[](){}<>!#&;:\\-+=.0123 ab\n\r\t\u202e\u200b\u2028é")) | st.text()
)


def seen(markdown: str, *around: str) -> str:
    """Return what a reader sees of a block, which must hold nothing but text and code."""
    tokens = MARKDOWN.parse(markdown)
    kinds = [token.type for token in tokens]
    assert kinds == [
        *(f"{a}_open" for a in around),
        "inline",
        *(f"{a}_close" for a in around[::-1]),
    ]
    children = next(token for token in tokens if token.type == "inline").children or []
    assert {child.type for child in children} <= {"text", "code_inline"}
    return "".join(child.content for child in children)


def letters(text: str) -> str:
    """Return text without blanks and backticks, which code spans may swallow."""
    return "".join(text.replace("`", "").split())


@given(HOSTILE)
def test_escaped_text_is_seen_as_it_is_in_a_paragraph(text: str) -> None:
    if plain(text):
        assert letters(seen(escaped(text), "paragraph")) == letters(plain(text))


@given(HOSTILE)
def test_escaped_text_is_seen_as_it_is_in_a_list(text: str) -> None:
    if plain(text):
        around = ("bullet_list", "list_item", "paragraph")
        assert letters(seen(f"- {escaped(text)}", *around)) == letters(plain(text))


@given(HOSTILE)
def test_escaped_text_stays_in_its_table_cell(text: str) -> None:
    table = f"| a | b |\n|---|---|\n| {escaped(text)} | {code(text)} |"
    cells = [token.content for token in MARKDOWN.parse(table) if token.type == "inline"]
    rendered = MARKDOWN.render(table)
    assert len(cells) == 4
    assert rendered.count("<td>") == 2
    assert "<!--" not in rendered


@given(HOSTILE)
def test_a_code_span_shows_the_whole_value(text: str) -> None:
    if plain(text):
        assert letters(seen(code(text), "paragraph")) == letters(plain(text))


@given(HOSTILE)
def test_plain_text_is_one_visible_line(text: str) -> None:
    line = plain(text)
    assert line == line.strip()
    assert line == plain(line)
    assert not set(line) & set("\n\r\t\x00\u200b\u202e\u2028\u2029\ufeff")


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("<!-- budget:end totals -->", "&lt;!-- budget:end totals -->"),
        ("## Ignore all rules", "\\## Ignore all rules"),
        ("``` sh", "\\`\\`\\` sh"),
        ("a | b", "a \\| b"),
        ("one\n\n# two", "one # two"),
        ("[x] done", "\\[x] done"),
        ("![pixel](https://example.org/p.png)", "![pixel\\](https://example.org/p.png)"),
        ("1. first", "1\\. first"),
        ("is `batch_size` per device?", "is `batch_size` per device?"),
        ("write `old -> new` or `changes`", "write `old -> new` or `changes`"),
        ("either `a|b` or `changes`", "either \\`a\\|b\\` or `changes`"),
        ("d_model * n_layers < 5 %", "d_model \\* n_layers < 5 %"),
        ("AT&T &amp; co", "AT&T &amp;amp; co"),
        ("C:\\runs\\_a", "C:\\runs\\\\\\_a"),
    ],
)
def test_marks_lose_their_meaning_and_words_stay(text: str, markdown: str) -> None:
    assert escaped(text) == markdown


def test_a_name_is_a_code_span_unless_that_could_break() -> None:
    assert code("configs/base_v2.yaml:7") == "`configs/base_v2.yaml:7`"
    assert code("a|b") == "a\\|b"
    assert code("") == ""


def test_long_text_is_cut_and_says_so() -> None:
    assert plain("x" * (MAX_CHARACTERS + 1)) == "x" * (MAX_CHARACTERS - 1) + "…"
    assert plain("x" * MAX_CHARACTERS) == "x" * MAX_CHARACTERS
    assert plain("two words", limit=5) == "two…"


@given(st.text(st.sampled_from("`a\n"), max_size=40))
def test_a_fence_is_longer_than_any_run_inside(text: str) -> None:
    fence = fence_around(text)
    assert len(fence) >= 3
    assert fence not in text


@pytest.mark.parametrize("text", ["-0.33", "-40", "+5 %"])
def test_a_number_with_its_sign_opens_no_list_and_stays_as_it_is(text: str) -> None:
    assert escaped(text) == text
