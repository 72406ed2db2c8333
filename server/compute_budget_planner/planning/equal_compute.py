"""Losses of several runs at equal compute, beside those at equal steps.

At equal steps a larger model has spent more: FLOPs per step are about 6·N tokens (Kaplan et al.
2020, arXiv:2001.08361 §2.1). What is compared is what each run had reached when it had spent as
much as the cheapest of them did in all.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from compute_budget_planner.planning.curve_reading import interpolated
from compute_budget_planner.planning.loss_curves import Curve


@dataclass(frozen=True)
class Standing:
    """Where one run stands: the step at which it had spent the compute, and its two losses."""

    run: str
    step: float
    loss: float
    loss_at_equal_steps: float
    inside_schedule: bool


@dataclass(frozen=True)
class Comparison:
    """All runs at `flops` and at `steps`, the best at equal compute first."""

    flops: float
    steps: float
    standings: tuple[Standing, ...]

    @property
    def order_differs(self) -> bool:
        """Whether equal steps would order the runs otherwise."""
        at_steps = sorted(self.standings, key=lambda s: s.loss_at_equal_steps)
        return [s.run for s in at_steps] != [s.run for s in self.standings]


def compare(curves: Mapping[str, Curve], flops_per_step: Mapping[str, float]) -> Comparison | None:
    """Compare smooth curves by run; None when fewer than two have known FLOPs per step."""
    known = {run: curve for run, curve in curves.items() if run in flops_per_step}
    if len(known) < 2:
        return None
    flops = min(curve.end * flops_per_step[run] for run, curve in known.items())
    steps = min(curve.end for curve in known.values())
    standings = [
        Standing(
            run=run,
            step=flops / flops_per_step[run],
            loss=interpolated(curve, flops / flops_per_step[run]),
            loss_at_equal_steps=interpolated(curve, steps),
            inside_schedule=flops < 0.95 * curve.end * flops_per_step[run],
        )
        for run, curve in known.items()
    ]
    return Comparison(flops, steps, tuple(sorted(standings, key=lambda s: s.loss)))
