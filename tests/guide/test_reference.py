"""The reference as a whole: shipped pages load, lab pages win, faults name their place."""

import ast
from pathlib import Path

import pytest
from compute_budget_planner.errors import GuideError
from compute_budget_planner.guide.reference import Reference, build_reference, spelling
from compute_budget_planner.guide.shipped import load_reference, skill_directory
from compute_budget_planner.guide.tables import read_tables

SERVER = Path(__file__).parents[2] / "server" / "compute_budget_planner"
CAPTION = "Table `{}`. Source: a test. Checked: 2026-11-30.\n\n"

LAB_DEVICE = (
    CAPTION.format("accelerator_names")
    + """| name | aliases | vendor | architecture | generation |
|---|---|---|---|---|
| Lab-1 | lab one; L1 | Lab | X | hopper |

"""
    + CAPTION.format("accelerator_compute")
    + """| name | peak_fp32_tflops | peak_tf32_tflops | peak_fp16_tflops | peak_bf16_tflops | peak_fp8_tflops | achievable_bf16_tflops | achievable_fp16_tflops |
|---|---|---|---|---|---|---|---|
| Lab-1 | 50 | | 400 | 400 | | 320 | |

"""  # noqa: E501
    + CAPTION.format("accelerator_memory")
    + """| name | memory_gib | memory_bandwidth_gb_s | intra_node_link | intra_node_gb_s | typical_gpus_per_node | typical_inter_node_gbit_s |
|---|---|---|---|---|---|---|
| Lab-1 | 63.5 | 2000 | NVLink | 300 | 4 | |

"""  # noqa: E501
    + CAPTION.format("accelerator_price")
    + """| name | tdp_watts | usd_per_gpu_hour | price_date |
|---|---|---|---|
| Lab-1 | 500 | 1.25 | 2026-11-01 |
"""
)


@pytest.fixture(scope="module")
def reference() -> Reference:
    return load_reference()


def two_quantities(name: str) -> str:
    return (
        CAPTION.format("speeds")
        + f"| name | low | expected | high | unit |\n|---|---|---|---|---|\n"
        f"| walk | | 5 | | km/h |\n| {name} | | 12 | | km/h |\n"
    )


def test_every_shipped_page_loads_on_its_own_and_has_tables_or_prose(
    reference: Reference,
) -> None:
    pages = sorted((skill_directory() / "references").glob("*.md"))
    tables = {p.name: read_tables(p.name, p.read_text(encoding="utf-8")) for p in pages}
    assert all(table.rows for found in tables.values() for table in found)
    names = [table.name for found in tables.values() for table in found]
    assert len(names) == len(set(names)), "a table stands on two pages"
    assert set(names) == set(reference.tables)


def test_every_typed_view_of_the_shipped_pages_can_be_built(reference: Reference) -> None:
    assert len(reference.accelerators) >= 100
    assert len(reference.catalogue) >= 100
    for view in (
        reference.optimizers,
        reference.precisions,
        reference.generations,
        reference.framework_classes,
        reference.choices,
    ):
        assert view


def test_every_device_belongs_to_a_known_generation(reference: Reference) -> None:
    used = {a.generation for a in reference.accelerators.values()}
    assert used <= set(reference.generations)


def test_every_quantity_is_a_number_at_most_once(reference: Reference) -> None:
    seen: dict[str, str] = {}
    for table, rows in reference.tables.items():
        for key, row in rows.items():
            if {"low", "expected", "high", "unit"} <= row.cells.keys():
                assert seen.setdefault(key, table) == table, f"{key} in {seen[key]} and {table}"
                assert reference.quantity(key).expected >= 0
    assert len(seen) > 50


def names_asked_for() -> dict[str, str]:
    """Return the quantities the code names in `.value("…")` and `.quantity("…")`, with places."""
    asked = {}
    for path in sorted(SERVER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if node.func.attr in ("value", "quantity"):
                for argument in node.args:
                    for part in ast.walk(argument):
                        if isinstance(part, ast.Constant) and isinstance(part.value, str):
                            asked[part.value] = f"{path.name}:{node.lineno}"
    return asked


def test_every_quantity_the_code_asks_for_by_name_exists(reference: Reference) -> None:
    asked = names_asked_for()
    prefixes = {"sigma_calibrated_": ("same", "near", "far")}
    assert len(asked) > 40
    for name, place in asked.items():
        for end in prefixes.get(name, ("",)):
            try:
                reference.quantity(name + end)
            except GuideError as error:
                # Names compared with (`== "fp32"`) stand in the same call and are no quantities.
                assert name in {"fp32", "tf32", "bf16", "none"}, f"{place}: {error}"


def test_an_unknown_quantity_is_refused_with_the_nearest(reference: Reference) -> None:
    with pytest.raises(GuideError, match=r"Did you mean `startup_minutes`"):
        reference.value("startup_minuts")


def test_two_rows_of_one_key_on_one_page_are_refused_with_their_place() -> None:
    with pytest.raises(GuideError) as error:
        build_reference([("page.md", two_quantities("walk"))])
    assert str(error.value) == (
        "page.md:6, table `speeds`: two rows have the key `walk`. Keep one of them."
    )


def test_the_row_of_a_later_page_wins_and_the_others_stay() -> None:
    lab = two_quantities("run").replace("| 5 |", "| 6 |").replace("| 12 |", "| 13 |")
    lab = "\n".join(line for line in lab.splitlines() if "| run" not in line)
    built = build_reference([("page.md", two_quantities("run")), ("lab.md", lab)])
    assert (built.value("walk"), built.value("run")) == (6, 12)
    assert built.row("speeds", "walk").page == "lab.md"


def test_a_lab_page_adds_a_device_with_its_price() -> None:
    reference = load_reference([("lab.md", LAB_DEVICE)])
    (device,) = reference.find_accelerators("lab one")
    assert (device.name, device.memory_gib, device.peak_bf16_tflops) == ("Lab-1", 63.5, 400)
    assert (device.usd_per_gpu_hour, device.price_date) == (1.25, "2026-11-01")
    assert device.peak_fp8_tflops is None
    assert "Lab-1" not in load_reference().accelerators


def test_a_device_with_a_broken_cell_is_refused_by_page_table_row_and_column() -> None:
    page = LAB_DEVICE.replace("| Lab-1 | 63.5 |", "| Lab-1 | 80 GB |")
    with pytest.raises(GuideError) as error:
        _ = load_reference([("lab.md", page)]).accelerators
    assert str(error.value).startswith(
        "lab.md:17, table `accelerator_memory`, row `Lab-1`, column `memory_gib`: `80 GB`"
    )


def test_a_device_that_lacks_a_row_in_one_table_is_refused() -> None:
    page = LAB_DEVICE[: LAB_DEVICE.index(CAPTION.format("accelerator_price"))]
    with pytest.raises(GuideError, match="table `accelerator_price` has no row `Lab-1`"):
        _ = load_reference([("lab.md", page)]).accelerators


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("A100-SXM-80GB", {"A100-SXM-80GB"}),
        ("NVIDIA A100-SXM4-80GB", {"A100-SXM-80GB"}),
        ("Tesla T4", {"T4"}),
        ("NVIDIA GeForce RTX 3090", {"RTX-3090"}),
        ("nothing-like-it", set()),
    ],
)
def test_a_device_is_found_under_the_names_drivers_print(
    reference: Reference, text: str, names: set[str]
) -> None:
    assert {a.name for a in reference.find_accelerators(text)} == names


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("a100", "A100-SXM-40GB", "A100-PCIe-80GB"),
        ("h100", "H100-SXM-80GB", "H100-PCIe-80GB"),
        ("v100", "V100-SXM2-16GB", "V100-SXM2-32GB"),
        ("rtx6000", "Quadro-RTX-6000", "RTX-6000-Ada"),
    ],
)
def test_an_ambiguous_name_gives_every_device_it_may_mean(
    reference: Reference, text: str, one: str, other: str
) -> None:
    assert {one, other} <= {a.name for a in reference.find_accelerators(text)}


def test_a_canonical_name_means_one_device_even_where_it_is_an_alias_elsewhere(
    reference: Reference,
) -> None:
    for name in reference.accelerators:
        assert [a.name for a in reference.find_accelerators(name)] == [name]


@pytest.mark.parametrize(
    ("fact", "written", "value"),
    [
        ("precision", "bfloat16", "bf16"),
        ("precision", "16-mixed", "fp16"),
        ("optimizer", "adamw_bnb_8bit", "adamw-8bit"),
        ("sharding", "FULL_SHARD", "fsdp"),
        ("attention", "flash_attention_2", "flash"),
        ("activation_checkpointing", "True", "full"),
        ("inter_node_link", "RoCE", "infiniband"),
    ],
)
def test_choices_resolve_the_spellings_of_frameworks(
    reference: Reference, fact: str, written: str, value: str
) -> None:
    assert reference.choices[fact][spelling(written)] == value


def test_no_spelling_of_a_choice_means_two_values(reference: Reference) -> None:
    owners: dict[tuple[str, str], set[str]] = {}
    for row in reference.rows("fact_values").values():
        fact, _, value = row.required("value_of").partition("=")
        for word in (value, *row.words("aliases")):
            owners.setdefault((fact, spelling(word)), set()).add(value)
    assert {word: values for word, values in owners.items() if len(values) > 1} == {}


def test_the_guide_defines_bytes_for_every_precision_and_optimizer_it_accepts(
    reference: Reference,
) -> None:
    assert set(reference.choices["precision"].values()) == set(reference.precisions)
    assert set(reference.choices["optimizer"].values()) == set(reference.optimizers)


def test_frameworks_are_found_by_class_and_by_name(reference: Reference) -> None:
    found = reference.framework_class_of("Megatron_LM")
    assert found is not None
    assert found.name == "megatron"
    assert reference.framework_class_of("hf-trainer") is reference.framework_classes["hf-trainer"]
    assert reference.framework_class_of("my-own-loop") is None
