"""Fill in the model: a known name, a shape, or a usual shape of the given size."""

from functools import lru_cache

from compute_budget_planner.errors import FactError, nearest
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.architecture import SampleModel
from compute_budget_planner.workload.facts import Basis, Fact, Layer
from compute_budget_planner.workload.known_models import at_image_size, catalogue_facts
from compute_budget_planner.workload.ledger import Assumption, Ledger
from compute_budget_planner.workload.model_shape import missing_shape, model_from
from compute_budget_planner.workload.run import Model
from compute_budget_planner.workload.typical_model import typical_architecture

_usual_shape = lru_cache(maxsize=64)(typical_architecture)
"""Searching the usual shapes takes milliseconds, and a run is resolved many times."""


def complete_model(ledger: Ledger, reference: Reference) -> Model | None:
    """Return the model, or None when neither name, shape nor size is known.

    Raises:
        FactError: the shape contradicts itself.
    """
    named = ledger.text("model")
    known = reference.find_model(named) if named else None
    if known is not None:
        for fact in catalogue_facts(known, reference):
            ledger.facts.setdefault(fact.name, fact)
    values = ledger.values
    if not missing_shape(values):
        model = model_from(values)
        size = ledger.count("image_size")
        if isinstance(model, SampleModel) and size and known is not None:
            return at_image_size(_catalogue_model(known.name, reference), size)
        return model
    params = ledger.count("params_total")
    if params is not None:
        _assume_shape(ledger, params)
        return _usual_shape(params)
    ledger.missing.append("model")
    lacking = ", ".join(f"`{n}`" for n in missing_shape(values))
    hint = f" ({nearest(named, reference.known_model_spellings())})" if named and not known else ""
    ledger.questions.append(
        f"Which model is it? The shape lacks {lacking}; a known `model` name, a config.json or "
        f"`params_total` would do.{hint}"
    )
    return None


def _catalogue_model(name: str, reference: Reference) -> SampleModel:
    known = reference.find_model(name)
    assert known is not None  # noqa: S101  the caller has just found it
    model = model_from({f.name: f.value for f in catalogue_facts(known, reference)})
    if not isinstance(model, SampleModel):
        raise FactError(f"`{name}` is not a model counted per sample")
    return model


def _assume_shape(ledger: Ledger, params: int) -> None:
    shape = _usual_shape(params)
    for word in ("n_layers", "d_model", "n_heads", "d_ff", "vocab_size"):
        if not ledger.has(word):
            ledger.facts[word] = Fact(
                word,
                getattr(shape, word),
                Basis.ASSUMED,
                f"a usual decoder of {params:,} parameters",
                Layer.ASSUMPTION,
            )
    ledger.assumptions.append(
        Assumption("model_family", "llama", f"only the size is known: {params:,} parameters")
    )
