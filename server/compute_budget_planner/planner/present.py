"""From an assessment to the result of `estimate_run`: rounded, explained, with what comes next."""

from compute_budget_planner.estimation.device_rate import emulates_bf16
from compute_budget_planner.estimation.estimate import Estimate
from compute_budget_planner.estimation.overheads import checkpoint_gib, startup_hours
from compute_budget_planner.estimation.parameters import count_parameters
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.estimation.steps import StepsLedger
from compute_budget_planner.numbers import brief
from compute_budget_planner.planner.assessing import Assessed
from compute_budget_planner.planner.sentences import estimate_summary
from compute_budget_planner.planner.unstated import (
    assumptions_of,
    settled_questions,
    settled_words,
)
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.limits import LimitFit, fit_limit
from compute_budget_planner.project import private_paths
from compute_budget_planner.results import (
    CalibrationOut,
    ConflictOut,
    EstimateResult,
    FactOut,
    LimitOut,
    MemoryOut,
    MemoryTermOut,
    MfuOut,
    NextStep,
    OverheadOut,
    ParametersOut,
    PartOut,
    RangeOut,
    StepsOut,
)
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.run import TrainingRun

_MOST_QUESTIONS = 5
_LEAST_PART = 0.001
"""Parts of a step below this share are not listed."""


def present(workspace: Workspace, assessed: Assessed) -> EstimateResult:
    """Return the result of a run's assessment."""
    resolution = assessed.assessment.resolution
    result = EstimateResult(
        summary="",
        run=assessed.name,
        status="incomplete",
        missing=list(resolution.missing),
        seeds=assessed.seeds,
        facts={name: FactOut.of(fact) for name, fact in sorted(resolution.facts.items())},
        conflicts=[
            ConflictOut(
                fact=c.used.name, used=FactOut.of(c.used), overruled=FactOut.of(c.overruled)
            )
            for c in resolution.conflicts
        ],
        questions=_questions(workspace, assessed),
        warnings=[*resolution.warnings],
    )
    run = assessed.assessment.run
    if run is not None:
        result = _with_numbers(workspace, assessed, run, result)
    result = result.model_copy(update={"next": _next(assessed, result)})
    return result.model_copy(
        update={"summary": estimate_summary(result, _model_name(assessed, run))}
    )


def _with_numbers(
    workspace: Workspace, assessed: Assessed, run: TrainingRun, result: EstimateResult
) -> EstimateResult:
    assessment = assessed.assessment
    estimate, memory = assessment.estimate, assessment.memory
    updates: dict[str, object] = {
        "gpu": run.hardware.accelerator.name,
        "n_gpus": run.hardware.n_gpus,
        "parameters": _parameters(run),
        "checkpoint_gib": checkpoint_gib(run, workspace.reference),
        "assumptions": assumptions_of(assessed.assessment),
        "warnings": [*result.warnings, *_warnings(run)],
    }
    if assessment.uncertainty is not None and assessment.uncertainty.widest is not None:
        updates["narrow_by"] = assessment.uncertainty.widest.assumption.fact
    if memory is not None:
        updates["memory"] = MemoryOut(
            verdict=memory.verdict,
            peak_gib=RangeOut.of(memory.peak),
            capacity_gib=memory.capacity_gib,
            terms=[
                MemoryTermOut(name=name, gib=term.expected) for name, term in memory.terms.items()
            ],
            reason="; ".join(filter(None, (memory.reason, settled_words(assessed.assessment)))),
            smallest_fix=memory.smallest_fix,
            largest_micro_batch=memory.largest_micro_batch,
        )
    if assessment.calibration is not None:
        updates["calibration"] = CalibrationOut(
            runs=list(assessment.calibration.labels),
            factor=assessment.calibration.factor,
            reason=assessment.calibration.reason,
        )
    if estimate is not None:
        batch = run.batch.global_batch_size
        updates |= {
            "status": "estimated",
            "steps": _steps(estimate.steps),
            "step_seconds": RangeOut.of(estimate.step_seconds),
            "samples_per_second": RangeOut.of(estimate.step_seconds.inverse(batch)),
            "gpu_hours": RangeOut.of(estimate.gpu_hours),
            "gpu_hours_all_seeds": RangeOut.of(estimate.gpu_hours.scaled(assessed.seeds)),
            "wall_clock_hours": RangeOut.of(estimate.wall_clock_hours),
            "breakdown": [
                PartOut(
                    name=name, seconds=seconds, share_percent=100 * seconds / estimate.step.seconds
                )
                for name, seconds in sorted(estimate.step.parts.items(), key=lambda p: -p[1])
                if seconds >= _LEAST_PART * estimate.step.seconds
            ],
            "bottleneck": estimate.step.bottleneck,
            "overheads": [
                OverheadOut(name=o.name, hours=RangeOut.of(o.hours), meaning=o.meaning)
                for o in estimate.overheads
            ],
            "limit": _limit(limit_of(workspace, assessed, run, estimate.wall_clock_hours)),
            "warnings": [*result.warnings, *_warnings(run), *_too_fast(run, estimate)],
            "mfu": MfuOut(
                percent=RangeOut.of(estimate.mfu_percent), convention=estimate.mfu_convention
            ),
            "flops_total": estimate.flops_total,
            "cost_usd": RangeOut.of(estimate.cost_usd) if estimate.cost_usd else None,
            "energy_kwh": RangeOut.of(estimate.energy_kwh) if estimate.energy_kwh else None,
        }
        if run.data.seq_len:
            updates["tokens_per_second"] = RangeOut.of(
                estimate.step_seconds.inverse(batch * run.data.seq_len)
            )
    return EstimateResult.model_validate({**dict(result), **updates})


def limit_of(
    workspace: Workspace, assessed: Assessed, run: TrainingRun, wall_clock: Range
) -> LimitFit:
    """Compare a run with its time limit."""
    start = startup_hours(run, workspace.reference).expected
    return fit_limit(
        wall_clock,
        start,
        run.limits.time_limit_hours,
        workspace.reference,
        unlimited=assessed.is_local,
    )


def _limit(fit: LimitFit) -> LimitOut:
    return LimitOut(
        time_limit_hours=fit.time_limit_hours,
        fits=fit.fits,
        segments=fit.segments,
        usable_hours_per_segment=fit.usable_hours,
        reason=fit.reason,
    )


def _steps(steps: StepsLedger) -> StepsOut:
    return StepsOut(
        examples=steps.examples,
        micro_steps=steps.micro_steps,
        optimizer_steps=steps.optimizer_steps,
        tokens=steps.tokens,
        epochs=steps.epochs,
        rule=steps.rule,
        notes=list(steps.notes),
    )


def _parameters(run: TrainingRun) -> ParametersOut:
    if isinstance(run.model, Architecture):
        adapters = run.numerics.trains_adapters
        counts = count_parameters(run.model, run.numerics.lora_rank if adapters else 0)
        return ParametersOut(total=counts.total, active=counts.active, trainable=counts.trainable)
    total = run.model.params_total
    return ParametersOut(total=total, active=total, trainable=total)


def _questions(workspace: Workspace, assessed: Assessed) -> list[str]:
    problems = [
        private_paths(f"{p.source}: {p.text}", workspace.project.root) for p in assessed.problems
    ]
    return [
        *assessed.assessment.resolution.questions,
        *settled_questions(assessed.assessment),
        *problems[:_MOST_QUESTIONS],
    ]


def _warnings(run: TrainingRun) -> list[str]:
    found = []
    accelerator = run.hardware.accelerator
    most = run.limits.max_gpus
    if most is not None and run.hardware.n_gpus > most:
        found.append(f"{run.hardware.n_gpus} GPUs are planned, but `max_gpus` is {most}")
    if emulates_bf16(accelerator, run.numerics.precision):
        found.append(
            f"{accelerator.name} has no bfloat16 units: it is emulated, 8 to 20 times slower "
            "than fp16. Use precision=fp16."
        )
    if run.numerics.objective in ("dpo", "ppo", "grpo", "distillation", "evaluation"):
        found.append(f"objective {run.numerics.objective}: unvalidated, range ×/÷ 3")
    return found


def _too_fast(run: TrainingRun, estimate: Estimate) -> list[str]:
    """Return a warning when the expected speed is beyond the device: a rate is mistaken."""
    percent = estimate.mfu_percent.expected
    # FP8 is measured against the 16-bit peak, of which it has twice.
    if percent <= (200 if run.numerics.precision == "fp8" else 100):
        return []
    told = f"the measured speed would be {brief(percent)} % of the device's peak"
    return [f"{told}: does the rate count tokens for samples, or the whole job for one GPU?"]


def _model_name(assessed: Assessed, run: TrainingRun | None) -> str:
    named = assessed.assessment.resolution.facts.get("model")
    if named is not None and "/" not in str(named.value):
        return str(named.value)
    if run is None:
        return assessed.name
    total = _parameters(run).total
    size = f"{brief(total / 1e9)}B" if total >= 1e9 else f"{brief(total / 1e6)}M"
    return f"`{assessed.name}` ({size} parameters)"


def _next(assessed: Assessed, result: EstimateResult) -> list[NextStep]:
    if result.status == "incomplete":
        question = result.questions[0] if result.questions else ""
        return [NextStep(tool="estimate_run", arguments=assessed.arguments, question=question)]
    return [NextStep(tool="size_smoke", arguments=assessed.arguments)]
