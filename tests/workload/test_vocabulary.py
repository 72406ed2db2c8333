"""Raw values become canonical ones of the fact's kind, or are refused with what is accepted."""

import math

import pytest
from compute_budget_planner.errors import FactError
from compute_budget_planner.workload.vocabulary import VOCABULARY, Kind, fact_spec, parse_fact
from given_facts import REFERENCE
from hypothesis import given
from hypothesis import strategies as st

COUNTS = [name for name, spec in VOCABULARY.items() if spec.kind is Kind.COUNT]
POSITIVES = [name for name, spec in VOCABULARY.items() if spec.kind is Kind.POSITIVE]


def parsed(name: str, raw: object) -> object:
    return parse_fact(name, raw, REFERENCE)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (8_000_000_000, 8_000_000_000),
        (1e9, 1_000_000_000),
        ("8B", 8_000_000_000),
        ("1e9", 1_000_000_000),
        ("300e9", 300_000_000_000),
        ("1.3b", 1_300_000_000),
        ("350M", 350_000_000),
        ("1,024", 1024),
        ("10_000", 10_000),
        ("32k", 32_000),
        ("15T", 15_000_000_000_000),
        (" 7 ", 7),
        ("2.0", 2),
    ],
)
def test_counts_are_read_as_people_write_them(raw: object, value: int) -> None:
    found = parsed("train_tokens", raw)
    assert found == value
    assert type(found) is int


@pytest.mark.parametrize(
    "raw",
    [True, False, None, 0, -1, 1.5, "1.5", "", "many", "8 billion", "0x10", "-4", [], {}, "1e400"],
)
def test_what_is_no_count_is_refused_with_what_is_accepted(raw: object) -> None:
    with pytest.raises(FactError) as error:
        parsed("n_gpus", raw)
    assert str(error.value) == f"`n_gpus` is {str(raw)!r}. It takes a whole number of at least 1."


@pytest.mark.parametrize("raw", [math.nan, math.inf, -math.inf, "nan", "inf", "Infinity", "1e999"])
@pytest.mark.parametrize("name", ["n_gpus", "tuning_trials", "learning_rate"])
def test_nan_and_infinity_are_refused(name: str, raw: object) -> None:
    with pytest.raises(FactError, match=f"`{name}` is"):
        parsed(name, raw)


def test_zero_is_a_value_only_where_it_means_none() -> None:
    assert parsed("tuning_trials", 0) == 0
    with pytest.raises(FactError):
        parsed("seeds", 0)
    with pytest.raises(FactError):
        parsed("epochs", 0)


def test_a_part_of_an_epoch_is_a_length() -> None:
    assert parsed("epochs", "0.5") == 0.5


@pytest.mark.parametrize(("raw", "value"), [("3e-4", 3e-4), (0.1, 0.1), (1, 1.0), ("5.0e-5", 5e-5)])
def test_positive_numbers_keep_their_fraction(raw: object, value: float) -> None:
    assert parsed("learning_rate", raw) == value


@pytest.mark.parametrize(
    ("raw", "value"),
    [(True, True), ("yes", True), ("On", True), ("0", False), ("false", False), (1, True)],
)
def test_flags_take_the_words_of_configs(raw: object, value: bool) -> None:
    assert parsed("packing", raw) is value


@pytest.mark.parametrize("raw", [2, "maybe", None, "", 0.5])
def test_what_is_no_flag_is_refused(raw: object) -> None:
    with pytest.raises(FactError, match="It takes true or false"):
        parsed("packing", raw)


def test_texts_lose_line_breaks_and_have_a_limit() -> None:
    assert parsed("dataset", "  open\n web  text ") == "open web text"
    for raw in ("", "   ", "x" * 201, True, None, ["a"]):
        with pytest.raises(FactError, match="a text of 1 to 200 characters"):
            parsed("dataset", raw)


def test_choices_take_other_spellings_and_refuse_the_rest_with_all_values() -> None:
    assert parsed("precision", "BFloat16") == "bf16"
    assert parsed("sharding", "FULL_SHARD") == "fsdp"
    with pytest.raises(FactError) as error:
        parsed("sharding", "zero9")
    assert str(error.value) == (
        "`sharding` is 'zero9'. It takes one of `ddp`, `fsdp`, `none`, `zero1`, `zero2`, `zero3`."
    )


def test_an_unknown_fact_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(FactError) as error:
        fact_spec("micro_batchsize")
    assert str(error.value).startswith(
        "unknown fact `micro_batchsize`. Did you mean `micro_batch_size`"
    )


def test_an_error_says_where_the_value_stands() -> None:
    with pytest.raises(FactError, match=r"^conf\.yaml:3: `n_gpus` is 'four'"):
        parse_fact("n_gpus", "four", REFERENCE, "conf.yaml:3")


def test_every_word_has_a_kind_and_help_and_every_choice_has_values() -> None:
    for spec in VOCABULARY.values():
        assert spec.help
        assert (spec.kind is Kind.CHOICE) == (spec.name in REFERENCE.choices), spec.name


@given(st.sampled_from(COUNTS), st.integers(1, 10**15))
def test_a_count_given_as_number_and_as_text_is_the_same(name: str, value: int) -> None:
    assert parsed(name, value) == parsed(name, str(value)) == value


@given(
    st.sampled_from(sorted(VOCABULARY)),
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
)
def test_any_value_is_accepted_as_its_kind_or_refused_as_a_fact_error(
    name: str, raw: object
) -> None:
    try:
        value = parsed(name, raw)
    except FactError:
        return
    if isinstance(value, float | int):
        assert math.isfinite(value)
        assert value >= 0


@given(st.sampled_from(POSITIVES), st.floats(1e-12, 1e12))
def test_a_positive_number_survives_being_written_down(name: str, value: float) -> None:
    assert parsed(name, repr(value)) == value
