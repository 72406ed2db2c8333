"""The rows of the model catalogue as facts."""

from dataclasses import replace

from compute_budget_planner.errors import FactError, GuideError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.rows import CatalogueModel
from compute_budget_planner.workload.architecture import SampleModel
from compute_budget_planner.workload.facts import Basis, Fact, Layer
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
