"""`check_fairness`: the sides of a comparison against the rules, with the numbers."""

from collections.abc import Sequence

from compute_budget_planner.diagnosis_request import FairnessRequest
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.numbers import counted
from compute_budget_planner.planner.curves.split_doubts import split_doubts
from compute_budget_planner.planner.fairness.sides import compared_sides
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.fairness import Breach, Side, breaches_of
from compute_budget_planner.results.base import NextStep
from compute_budget_planner.results.fairness import BreachOut, FairnessResult, SideOut

_SPLIT = "random-split"
_SAID = {
    "training compute": ("flops",),
    "tuning trials": ("trials",),
    "learning rate and size": ("learning_rate", "params"),
    "different tokens": ("tokens", "unique_tokens"),
    "seeds": ("seeds",),
    "validation data": ("validation_data",),
    "metric": ("metric",),
    "rule for choosing a checkpoint": ("checkpoint_rule",),
}
"""What a rule needs of at least two sides, by the words in which it is missed."""


def check_fairness(workspace: Workspace, request: FairnessRequest) -> FairnessResult:
    """List which rule of a fair comparison is broken by whom, and what could not be checked.

    With fewer than two sides the result is incomplete and says what to pass.

    Raises:
        PlannerError: a file or a fact cannot be used.
    """
    reference = workspace.reference
    sides = compared_sides(workspace, request)
    doubts = split_doubts(reference, request.validation_split, request.data_depends_on)
    rules = [row.required("text") for row in reference.rows("fairness_rules").values()]
    if len(sides) < 2:
        question = (
            "What is compared with what? Pass a design plan, a baseline audit, the configs of "
            "several runs, or `compared_runs`."
        )
        return FairnessResult(
            summary=f"There are no two sides to compare. {question}",
            status="incomplete",
            sides=[_side_out(side) for side in sides],
            rules=rules,
            warnings=doubts,
            questions=[question],
            next=[NextStep(tool="check_fairness", question=question)],
        )
    found = list(breaches_of(sides, reference))
    if request.validation_split is not None:
        names = tuple(side.name for side in sides)
        found += [Breach(_SPLIT, names, doubt) for doubt in doubts]
        doubts = []
    open_ = [
        words
        for words, fields in _SAID.items()
        if sum(all(getattr(s, f) not in (None, "") for f in fields) for s in sides) < 2
    ]
    result = FairnessResult(
        summary="",
        status="breaches" if found else "fair so far",
        breaches=[_breach_out(breach, reference) for breach in found],
        sides=[_side_out(side) for side in sides],
        rules=rules,
        not_checked=open_,
        warnings=doubts,
        next=_next(request, found),
    )
    result.summary = _summary(result)
    return result


def _breach_out(breach: Breach, reference: Reference) -> BreachOut:
    row = reference.row("fairness_breaches", breach.breach)
    return BreachOut(
        breach=breach.breach,
        rule=row.required("rule"),
        sides=list(breach.sides),
        numbers=breach.numbers,
        means=row.required("means"),
        mend=row.required("mend"),
    )


def _side_out(side: Side) -> SideOut:
    return SideOut(
        side=side.name,
        role=side.role,
        params_total=side.params,
        learning_rate=side.learning_rate,
        optimizer_steps=side.steps,
        training_flops=side.flops,
        tokens=side.tokens,
        unique_tokens=side.unique_tokens,
        seeds=side.seeds,
        tuning_trials=side.trials,
        source=side.source,
    )


def _next(request: FairnessRequest, found: Sequence[Breach]) -> list[NextStep]:
    files = {"files": request.files} if request.files else {}
    if any(breach.breach in ("fixed-steps", "epochs-as-data") for breach in found):
        return [NextStep(tool="plan_grid", arguments=dict(files))]
    return [NextStep(tool="cost_ablations", arguments=dict(files))]


def _summary(result: FairnessResult) -> str:
    text = f"{counted(len(result.sides), 'side')} compared. "
    if result.breaches:
        text += " ".join(
            f"{b.breach} (rule {b.rule}): {b.means} {b.numbers}." for b in result.breaches
        )
    else:
        text += "No rule is broken by what is known."
    if result.not_checked:
        text += f" Not said of two sides, so not checked: {', '.join(result.not_checked)}."
    return text
