"""The rows of the model catalogue as facts."""

import math
from collections.abc import Mapping
from dataclasses import replace

from compute_budget_planner.errors import FactError, GuideError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.rows import CatalogueModel
from compute_budget_planner.workload.architecture import SampleModel
from compute_budget_planner.workload.facts import Basis, Fact, FactValue, Layer
from compute_budget_planner.workload.vocabulary import parse_fact


def catalogue_facts(model: CatalogueModel, reference: Reference) -> tuple[Fact, ...]:
    """Return what the catalogue says of a known model; the source names its row.

    Raises:
        GuideError: a column is no fact, or a cell not a value of it.
    """
    facts = []
    for name, text in model.facts.items():
        try:
            value = parse_fact(name, text, reference)
        except FactError as error:
            raise GuideError(error.what, where=model.place, remedy=error.remedy) from error
        facts.append(Fact(name, value, Basis.REFERENCE, model.place, Layer.REFERENCE))
    return tuple(facts)


def model_of_widths(values: Mapping[str, FactValue], reference: Reference) -> CatalogueModel | None:
    """Return the known mixture of experts of these widths, None when there is none.

    `d_model`, `n_heads` and a feed-forward width (`d_ff` or `moe_d_ff`) must agree; a shallower
    model of the same widths, as cut down for a trial, is still that model. Of several, the
    nearest in depth and in `params_total` is meant.
    """
    width = values.get("moe_d_ff", values.get("d_ff"))
    found = []
    for model in reference.catalogue.values():
        known = {fact.name: fact.value for fact in catalogue_facts(model, reference)}
        widths = (known.get("moe_d_ff", known.get("d_ff")), known.get("d_ff"))
        if (
            "n_experts" in known
            and all(values.get(name) == known.get(name) for name in ("d_model", "n_heads"))
            and width in widths
        ):
            found.append((_distance(values, known), model))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _distance(values: Mapping[str, FactValue], known: Mapping[str, FactValue]) -> float:
    """Return how far a model is in depth and, where both are the same, in size (logarithms)."""
    layers = _number(known, "n_layers", 1)
    depth = abs(math.log(_number(values, "n_layers", layers) / layers))
    every = _number(known, "moe_every", 1)
    width = _number(known, "moe_d_ff", _number(known, "d_ff", 1))
    experts = 3 * _number(known, "d_model", 1) * width * _number(known, "n_experts", 1)
    size = experts * layers / every
    return depth + 0.01 * abs(math.log(_number(values, "params_total", size) / size))


def _number(values: Mapping[str, FactValue], name: str, default: float) -> float:
    value = values.get(name, default)
    return float(value)


def at_image_size(model: SampleModel, image_size: int) -> SampleModel:
    """Return a vision model at another image edge in pixels.

    FLOPs and activations grow with the number of pixels: exact for convolutions, and for
    transformers up to their attention scores.

    Raises:
        FactError: the edge at which the model's figures hold is not known.
    """
    if model.image_size is None:
        raise FactError(
            "the model's FLOPs do not say for which `image_size` they hold",
            remedy="Give `flops_per_sample_forward` for the size that is trained.",
        )
    pixels = (image_size / model.image_size) ** 2
    activations = model.activations_per_sample
    return replace(
        model,
        flops_per_sample_forward=model.flops_per_sample_forward * pixels,
        activations_per_sample=None if activations is None else activations * pixels,
        image_size=image_size,
    )
