import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.changes import Change, ChangedFact, read_change
from hypothesis import given
from hypothesis import strategies as st


def change_of(text: str) -> Change:
    return read_change(text, load_reference())


def points_of(text: str) -> list[dict[str, object]]:
    """Return the points as name → new value, or name → `×factor`."""
    change = change_of(text)
    assert (change.problem, change.stated_multiplier) == ("", None)
    return [
        {f.name: f.value if f.factor is None else f"×{f.factor:g}" for f in point}
        for point in change.points
    ]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("n_layers: 12 -> 6", {"n_layers": 6}),
        ("`n_layers` 12→6", {"n_layers": 6}),
        ("n_layers=6", {"n_layers": 6}),
        ("reduce layers from 12 to 6", {"n_layers": 6}),
        ("6 layers instead of 12", {"n_layers": 6}),
        ("seq_len 1024 to 512", {"seq_len": 512}),
        ("context length: 1,024 → 512 tokens", {"seq_len": 512}),
        ("hidden size 512 and 8 heads", {"d_model": 512, "n_heads": 8}),
        ("d_model 512 (n_heads 8, d_ff 2048)", {"d_model": 512, "n_heads": 8, "d_ff": 2048}),
        ("image size 224x224", {"image_size": 224}),
        ("epochs 3", {"epochs": 3}),
        ("3 epochs instead of 10", {"epochs": 3}),
        ("20B tokens", {"train_tokens": 20_000_000_000}),
        ("learning_rate: 6e-4 -> 1.2e-3", {"learning_rate": 1.2e-3}),
        ("n_kv_heads 4 (grouped queries)", {"n_kv_heads": 4}),
        ("seq_len 512 (from 1024)", {"seq_len": 512}),
        ("n_layers：12 → 6，d_model：768 → 512", {"n_layers": 6, "d_model": 512}),
    ],
)
def test_new_values_are_read_in_the_forms_people_write(text: str, facts: dict[str, object]):
    assert points_of(text) == [facts]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("2x learning rate", {"learning_rate": "×2"}),
        ("lr × 2", {"learning_rate": "×2"}),
        ("lr x2", {"learning_rate": "×2"}),
        ("lr / 2", {"learning_rate": "×0.5"}),
        ("half batch", {"global_batch_size": "×0.5"}),
        ("batch size 64 → 256", {"global_batch_size": "×4"}),
        ("half as many layers", {"n_layers": "×0.5"}),
        ("1/4 depth", {"n_layers": "×0.25"}),
        ("twice the context length", {"seq_len": "×2"}),
        ("30 % fewer steps", {"max_steps": "×0.7"}),
        ("25 % of the data", {"dataset_examples": "×0.25", "dataset_tokens": "×0.25"}),
        ("a 10% subset", {"dataset_examples": "×0.1", "dataset_tokens": "×0.1"}),
    ],
)
def test_what_is_relative_to_the_baseline_is_a_factor(text: str, facts: dict[str, object]):
    assert points_of(text) == [facts]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("SwiGLU instead of GELU", {"glu": True}),
        ("activation: swiglu", {"glu": True}),
        ("SwiGLU → ReLU", {"glu": False}),
        ("no SwiGLU", {"glu": False}),
        ("no activation checkpointing", {"activation_checkpointing": "none"}),
        ("with activation checkpointing", {"activation_checkpointing": "full"}),
        ("packing off", {"packing": False}),
        ("AdamW -> Lion", {"optimizer": "lion"}),
        ("replace AdamW with Lion", {"optimizer": "lion"}),
        ("bf16 -> fp8", {"precision": "fp8"}),
        ("ddp -> fsdp", {"sharding": "fsdp"}),
        ("full -> lora", {"method": "lora"}),
        ("LoRA r=16", {"method": "lora", "lora_rank": 16}),
        ("LoRA (rank 64)", {"method": "lora", "lora_rank": 64}),
        ("full fine-tuning", {"method": "full-ft"}),
        ("flash attention", {"attention": "flash"}),
        ("ResNet-50 → ViT-B/16", {"model": "ViT-B/16"}),
    ],
)
def test_words_that_say_themselves_what_they_are_become_facts(text: str, facts: dict[str, object]):
    assert points_of(text) == [facts]


@pytest.mark.parametrize(
    "text",
    [
        "n_layers ∈ {4, 8, 12}",
        "n_layers in {4,8,12}",
        "n_layers = 4, 8, 12",
        "n_layers 4, 8 and 12",
        "layers: 4/8/12",
        "n_layers (4, 8, 12)",
        "depth 4 | 8 | 12",
        "n_layers: 24 -> {4, 8, 12}",
    ],
)
def test_a_list_is_a_sweep_with_a_point_for_each_value(text: str):
    assert points_of(text) == [{"n_layers": 4}, {"n_layers": 8}, {"n_layers": 12}]
    assert change_of(text).changed_variable == "n_layers ∈ {4, 8, 12}"


def test_a_sweep_may_list_factors_words_or_two_dimensions():
    assert points_of("lr: 0.5x, 2x") == points_of("lr × {0.5, 2}")
    assert points_of("lr: 0.5x, 2x") == [{"learning_rate": "×0.5"}, {"learning_rate": "×2"}]
    assert points_of("{AdamW, Lion}") == [{"optimizer": "adamw"}, {"optimizer": "lion"}]
    assert points_of("batch 256 → {128, 512}") == [
        {"global_batch_size": "×0.5"},
        {"global_batch_size": "×2"},
    ]
    assert points_of("n_layers {4, 8}, lr {1e-4, 2e-4, 3e-4}") == [
        {"n_layers": depth, "learning_rate": rate}
        for depth in (4, 8)
        for rate in (1e-4, 2e-4, 3e-4)
    ]


def test_nothing_changed_is_one_empty_point_and_an_empty_cell_is_a_question():
    assert change_of("none") == Change(((),), None, "none", "")
    assert change_of("Baseline") == Change(((),), None, "none", "")
    assert change_of("—").points == ()
    assert change_of("—").problem == (
        "The row does not say what changes. Write `fact: old -> new`, give `changes`, or state a "
        "cost multiplier such as 1.5×."
    )


@pytest.mark.parametrize(
    ("text", "multiplier", "points"),
    [
        ("1.5×", 1.5, ()),
        ("2x cost", 2, ()),
        ("cost 2x", 2, ()),
        ("twice the compute", 2, ()),
        ("cost multiplier: 0.6", 0.6, ()),
        ("two encoders (1.8×)", 1.8, ()),
        ("a new loss, cost 1.5x", 1.5, ()),
        ("n_layers 6, cost 0.6×", 0.6, ((ChangedFact("n_layers", 6),),)),
    ],
)
def test_a_stated_multiplier_stands_beside_facts_or_in_their_place(
    text: str, multiplier: float, points: object
):
    change = change_of(text)
    assert (change.stated_multiplier, change.points, change.problem) == (multiplier, points, "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("w/o X", "'w/o X' is not a change of facts"),
        ("remove positional embeddings", "'remove positional embeddings' is not a change"),
        ("n_layers 12 → 6, new loss", "'new loss' is not a change of facts"),
        ("mixup=off, ema=on", "'mixup=off' is not a change of facts"),
        ("add dropout to attention", "'add dropout to attention' is not a change of facts"),
        ("{128, 256, 512}", "'{128, 256, 512}' is not a change of facts"),
        ("packing", "'packing' is not a change of facts"),
        ("10 % of ImageNet", "'10 % of ImageNet' is not a change of facts"),
        ("n_layers 12 → 6 → 3", "'n_layers 12 → 6 → 3' is not a change of facts"),
        ("gpu hours 120", "'gpu hours 120' is not a change of facts"),
        ("seeds 5", "'seeds 5' is not a change of facts"),
        ("model: bigger", "the model 'bigger' is not known"),
        ("batch 128 | 256", "`batch` 128 does not say whether per device or in all"),
        ("linear attention", "`attention` is 'linear'. It takes one of `eager`, `flash`, `sdpa`"),
        ("n_layers 0", "`n_layers` is '0'. It takes a whole number of at least 1"),
        ("seq_len 8,192", "`8,192` may be one number or several"),
        ("n_layers 6, n_layers 8", "`n_layers` is changed twice"),
        ("n_layers {4, 8}, d_model {256, 512}", "lists of one length may be pairs or a grid"),
        ("cost 2x, compute 3x", "several costs are stated: 2×, 3×"),
        ("n_layers 6 (50 % fewer FLOPs)", "'50 % fewer FLOPs' is not a change of facts"),
        ("n_layers 6 (no RoPE)", "'no RoPE' is not a change of facts"),
        ("batch norm off", "`batch` norm off is not a change of facts"),
        ("x" * 501, "The change is too long to be read"),
    ],
)
def test_what_is_not_understood_is_asked_about_and_never_guessed(text: str, problem: str):
    change = change_of(text)
    assert (change.points, change.stated_multiplier) == ((), None)
    assert change.problem.startswith(problem)
    assert change.changed_variable == text[:120]


def test_the_changed_variable_shows_what_was_understood():
    shown = {
        text: change_of(text).changed_variable
        for text in ("half the depth", "SwiGLU, lr 3e-4", "LoRA r=8", "data 10%, 50%")
    }
    assert shown == {
        "half the depth": "n_layers × 0.5",
        "SwiGLU, lr 3e-4": "glu = true, learning_rate = 0.0003",
        "LoRA r=8": "method = lora, lora_rank = 8",
        "data 10%, 50%": "dataset_examples × {0.1, 0.5}, dataset_tokens × {0.1, 0.5}",
    }


PIECES = st.sampled_from(
    [
        *("n_layers", "lr ", "batch ", "data ", "half ", " 2x", " × ", " -> ", " to ", "{4, 8}"),
        *("[", "}", "(", ")", ", ", " and ", ": ", "=", " ∈ ", "50%", "1/2", "SwiGLU", "no "),
        *("with ", "cost ", " 1e999", "0", "12", "1,024", "AdamW", " instead of ", "LoRA r="),
        *("image_size 9x9", " or 3", "\n", "/", "|", "from ", "swap ", " off", "model: ", "×"),
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=10).map("".join))
def test_every_text_gives_facts_a_multiplier_or_a_problem(text: str):
    change = change_of(text)
    costable = bool(change.points) or change.stated_multiplier is not None
    assert costable == (change.problem == "")
    for fact in (fact for point in change.points for fact in point):
        assert (fact.value is None) != (fact.factor is None)
        assert fact.factor is None or fact.factor > 0
    assert change.stated_multiplier is None or change.stated_multiplier > 0
