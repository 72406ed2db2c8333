"""Every row of the catalogue becomes a model."""

from pathlib import Path

import pytest
from compute_budget_planner.errors import FactError, GuideError
from compute_budget_planner.guide.reference import Reference, build_reference, spelling
from compute_budget_planner.workload.architecture import Architecture, SampleModel
from compute_budget_planner.workload.facts import Basis, Fact, Layer
from compute_budget_planner.workload.known_models import at_image_size, catalogue_facts
from compute_budget_planner.workload.model_shape import model_from

PAGE = Path(__file__).parents[2] / "references" / "model-catalogue.md"
CAPTION = "Table `{}`. Source: a test. Checked: 2026-11-30.\n\n"


@pytest.fixture(scope="module")
def reference() -> Reference:
    return build_reference([("references/model-catalogue.md", PAGE.read_text(encoding="utf-8"))])


def test_every_row_gives_a_model_of_its_kind(reference):
    kinds = {table: set() for table in reference.tables}
    for name, model in reference.catalogue.items():
        values = {f.name: f.value for f in catalogue_facts(model, reference)}
        table = next(t for t, rows in reference.tables.items() if name in rows)
        kinds[table].add(type(model_from(values)))
    assert kinds == {
        "language_models": {Architecture},
        "encoder_models": {Architecture},
        "vision_models": {SampleModel},
        "diffusion_models": {SampleModel},
    }


def test_no_name_means_two_models(reference):
    owners: dict[str, set[str]] = {}
    for model in reference.catalogue.values():
        for word in (model.name, *model.aliases):
            owners.setdefault(spelling(word), set()).add(model.name)
    assert {word: names for word, names in owners.items() if len(names) > 1} == {}


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"),
        ("Qwen/Qwen2.5-7B", "qwen2.5-7b"),
        ("bert_base_uncased", "bert-base-uncased"),
        ("ViT-B/16", "vit_base_patch16_224"),
        ("openai-community/gpt2", "gpt2"),
        ("stabilityai/stable-diffusion-xl-base-1.0", "stable-diffusion-xl"),
    ],
)
def test_models_are_found_by_the_names_people_write(reference, written, name):
    found = reference.find_model(written)
    assert found is not None
    assert found.name == name


def test_a_fact_of_the_catalogue_names_its_row(reference):
    model = reference.find_model("tinyllama")
    assert model is not None
    fact = catalogue_facts(model, reference)[1]
    assert fact == Fact("n_layers", 22, Basis.REFERENCE, model.place, Layer.REFERENCE)
    assert model.place.endswith("table `language_models`, row `tinyllama-1.1b`, column `name`")


@pytest.mark.parametrize(
    ("columns", "cells", "fault"),
    [
        ("n_layer", "12", "unknown fact `n_layer`"),
        ("n_layers", "twelve", "`n_layers` is 'twelve'"),
    ],
)
def test_a_broken_row_of_a_lab_page_is_refused_with_its_place(columns, cells, fault):
    page = (
        CAPTION.format("language_models")
        + f"| name | aliases | {columns} | details |\n|---|---|---|---|\n| ours | | {cells} | |\n"
    )
    for table in ("encoder_models", "vision_models", "diffusion_models"):
        page += "\n" + CAPTION.format(table) + "| name | aliases | details |\n|---|---|---|\n"
    reference = build_reference([("lab.md", page)])
    with pytest.raises(GuideError) as caught:
        catalogue_facts(reference.catalogue["ours"], reference)
    assert caught.value.what == fault
    assert caught.value.where == "lab.md:5, table `language_models`, row `ours`, column `name`"


def test_half_the_image_edge_costs_a_quarter():
    model = SampleModel("resnet", 25_557_032, 8.0e9, 12.0e6, 224)
    assert at_image_size(model, 112) == SampleModel("resnet", 25_557_032, 2.0e9, 3.0e6, 112)


def test_flops_of_an_unknown_image_size_are_not_rescaled():
    with pytest.raises(FactError, match="do not say for which `image_size`"):
        at_image_size(SampleModel("mine", 1000, 1e9, None, None), 112)
