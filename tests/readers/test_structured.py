import pytest
from compute_budget_planner.errors import FormatError
from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.structured import load_mapping, mapping_of
from hypothesis import given
from hypothesis import strategies as st


def leaves(path: str, text: str) -> list[tuple[str, object, int | None]]:
    document = load_mapping(SourceFile(path, text))
    return [(leaf.dotted, leaf.value, leaf.line) for leaf in document.leaves()]


def problems(path: str, text: str) -> list[tuple[str, str]]:
    return [(p.source, p.text) for p in load_mapping(SourceFile(path, text)).problems]


def refusal(path: str, text: str) -> str:
    with pytest.raises(FormatError) as caught:
        load_mapping(SourceFile(path, text))
    return str(caught.value)


def test_every_yaml_value_has_the_line_of_its_key():
    text = "# header\ntrain:\n  lr: 0.1\n  seeds: [1, 2]\n\nmodel:\n  name:\n    gpt2\n"
    assert leaves("a.yaml", text) == [
        ("train.lr", 0.1, 3),
        ("train.seeds", (1, 2), 4),
        ("model.name", "gpt2", 7),
    ]


def test_scientific_notation_without_a_dot_is_a_number():
    assert leaves("a.yaml", "a: 1e-4\nb: 2E5\nc: 1.0e-4\nd: .5\n") == [
        ("a", 1e-4, 1),
        ("b", 2e5, 2),
        ("c", 1e-4, 3),
        ("d", 0.5, 4),
    ]


def test_times_of_day_stay_text_instead_of_becoming_seconds():
    assert leaves("a.yml", "t: 12:30:00\nu: 1:30\n") == [("t", "12:30:00", 1), ("u", "1:30", 2)]


def test_underscores_part_digits_and_leading_zeros_keep_a_text():
    assert leaves("a.yaml", "a: 20_000\nb: 007\n") == [("a", 20000, 1), ("b", "007", 2)]


def test_words_for_truth_and_nothing_are_read_only_without_quotes():
    text = "a: no\nb: 'no'\nc: on\nd:\ne: ~\nf: none\n"
    assert [value for _, value, _ in leaves("a.yaml", text)] == [
        False,
        "no",
        True,
        None,
        None,
        "none",
    ]


def test_numbers_that_are_not_finite_stay_text():
    assert leaves("a.yaml", "a: .inf\nb: .nan\nc: 1e999\n") == [
        ("a", ".inf", 1),
        ("b", ".nan", 2),
        ("c", "1e999", 3),
    ]
    assert leaves("a.json", '{"a": NaN, "b": 1e999}') == [("a", "nan", 1), ("b", "inf", 1)]


def test_a_key_given_twice_is_told_and_the_last_one_counts():
    assert leaves("a.yaml", "save_steps: 10\nsave_steps: 20\n") == [("save_steps", 20, 2)]
    assert problems("a.yaml", "save_steps: 10\nsave_steps: 20\n") == [
        ("a.yaml:2", "key `save_steps` is given twice; the last one counts")
    ]
    assert problems("a.json", '{"a": 1,\n "a": 2}') == [
        ("a.json:2", "key `a` is given twice; the last one counts")
    ]


def test_tags_construct_nothing():
    text = "a: !!python/object/apply:os.system ['true']\nb: !Ref name\nc: !!int '3'\n"
    assert leaves("a.yaml", text) == [("a", ("true",), 1), ("b", "name", 2), ("c", 3, 3)]


def test_merge_keys_fill_in_what_is_not_given():
    text = "base: &b\n  lr: 0.1\n  epochs: 3\nrun:\n  <<: *b\n  epochs: 5\n"
    assert leaves("a.yaml", text)[2:] == [("run.lr", 0.1, 2), ("run.epochs", 5, 6)]


def test_of_several_documents_the_first_is_read_and_told():
    assert leaves("a.yaml", "a: 1\n---\nb: 2\n") == [("a", 1, 1)]
    assert problems("a.yaml", "a: 1\n---\nb: 2\n") == [
        ("a.yaml:2", "only the first YAML document was read")
    ]


def test_a_template_as_a_key_is_skipped_and_told():
    assert leaves("a.yaml", "a: 1\n{{ name }}: 2\n") == [("a", 1, 1)]
    assert problems("a.yaml", "a: 1\n{{ name }}: 2\n")[0][0] == "a.yaml:2"


def test_every_json_value_has_the_line_of_its_key():
    text = '{\n  "a": {"x:\\"": 1,\n  "b": "c: d"},\n  "l": [{"m": 2}]\n}'
    assert leaves("a.json", text) == [('a.x:"', 1, 2), ("a.b", "c: d", 3), ("l.m", 2, 4)]


def test_json_indented_with_tabs_is_read():
    assert leaves("a.json", '{\n\t"a":\t1\n}') == [("a", 1, 2)]


def test_every_toml_value_has_the_line_of_its_key():
    text = "[training]\nsteps = 1_000\n\n[model.shape]\n'layers' = 12\ndtype = \"bf16\"\n"
    assert leaves("a.toml", text) == [
        ("training.steps", 1000, 2),
        ("model.shape.layers", 12, 5),
        ("model.shape.dtype", "bf16", 6),
    ]


def test_broken_files_name_the_line_and_the_remedy():
    assert refusal("a.yaml", "a: 1\nb: [1, 2\n").startswith("a.yaml:3: the YAML cannot be read")
    assert refusal("a.json", '{\n"a": 1,\n}').startswith("a.json:3: the JSON cannot be read")
    assert refusal("a.toml", "a = 1\nb = \n").startswith("a.toml:2: the TOML cannot be read")
    assert refusal("a.yaml", "- 1\n- 2\n") == (
        "a.yaml:1: the file holds no mapping at its top. Write `key: value` pairs at the top level."
    )


def test_a_bomb_of_aliases_is_refused_before_it_is_built():
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9)]
    assert "more than 500,000 values" in refusal("a.yaml", "\n".join(levels))


@pytest.mark.parametrize("path", ["a.yaml", "a.json", "a.toml"])
def test_deep_nesting_is_refused(path: str):
    text = {"a.yaml": "[" * 100, "a.json": "[" * 5000 + "]" * 5000, "a.toml": "a=" + "[" * 5000}
    assert "nested deeper than 40 levels" in refusal(path, text[path])


def test_nesting_past_every_stack_is_refused_too():
    assert "nest" in refusal("a.yaml", "[" * 100_000)
    assert "nest" in refusal("a.yaml", "a:\n" + "".join(" " * i + "- \n" for i in range(1, 200)))


def test_a_broken_file_is_no_mapping_for_those_who_only_ask():
    assert mapping_of(SourceFile("a.yaml", "a: [")) is None
    assert mapping_of(SourceFile("a.txt", "a: 1")) is None


PIECES = st.sampled_from(
    [
        "a: 1\n",
        "  b: [1, 2]\n",
        "- ",
        "{",
        "}",
        "[",
        "]",
        "&x ",
        "*x",
        "<<: ",
        "!t ",
        "'",
        '"',
        ": ",
        "\n",
        "\t",
        "|\n",
        "? ",
        "--- ",
        "...",
        "%YAML 1.1\n",
        "\\U",
        "#",
        '{"a":',
        "[a]\n",
    ]
)


@given(
    st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=20).map("".join),
    st.sampled_from(["a.yaml", "a.json", "a.toml"]),
)
def test_any_text_is_read_or_refused(text: str, path: str):
    try:
        list(load_mapping(SourceFile(path, text)).leaves())
    except FormatError as error:
        assert str(error).startswith(path)
