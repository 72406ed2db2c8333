"""What a scaling law says of parameters and tokens: loss, optimum at a budget, penalties.

L(N, D) = E + A/N^α + B/D^β with N parameters in all and D training tokens, loss in nats per token
(Hoffmann et al. 2022, arXiv:2203.15556 eq. 2). Constants stand in the tables `scaling_laws` and
`scaling_law_draws`; a draw is one bootstrap refit, and what draws disagree about is the interval.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from compute_budget_planner.errors import GuideError, RequestError, nearest
from compute_budget_planner.estimation.ranges import Z80, Range
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.tables import Row

SIX = 6.0
"""FLOPs per parameter and token of the short form C = 6·N·D (arXiv:2001.08361)."""


@dataclass(frozen=True)
class Allocation:
    """Parameters and training tokens."""

    params: float
    tokens: float

    @property
    def tokens_per_param(self) -> float:
        """D/N."""
        return self.tokens / self.params


@dataclass(frozen=True)
class Surface:
    """One set of constants of L(N, D) = e + a/N^alpha + b/D^beta, all above 0."""

    e: float
    a: float
    b: float
    alpha: float
    beta: float

    def loss(self, params: float, tokens: float) -> float:
        """Return the loss in nats per token."""
        return float(self.e + self.a / params**self.alpha + self.b / tokens**self.beta)

    def optimum(self, flops: float, k: float = SIX) -> Allocation:
        """Return the N and D of least loss with k·N·D = `flops` (arXiv:2203.15556 eq. 4)."""
        product = flops / k
        both = self.alpha + self.beta
        g = (self.alpha * self.a / (self.beta * self.b)) ** (1 / both)
        return Allocation(g * product ** (self.beta / both), product ** (self.alpha / both) / g)

    def penalty_percent(self, flops: float, factor: float, k: float = SIX) -> float:
        """Return by how much the loss is above its least when N is off by `factor` at a budget."""
        best = self.optimum(flops, k)
        off = self.loss(best.params * factor, best.tokens / factor)
        return 100 * (off / self.loss(best.params, best.tokens) - 1)

    def tokens_for(self, params: float, loss: float) -> float | None:
        """Return the tokens with which `params` reach a loss, None when they never do."""
        left = loss - self.e - self.a / params**self.alpha
        return (self.b / left) ** (1 / self.beta) if left > 0 else None


@dataclass(frozen=True)
class ScalingLaw:
    """A published fit: its constants, bootstrap refits, scatter of runs and fitted range.

    `scatter_percent` is the log deviation of single runs about the law, in percent.
    """

    name: str
    surface: Surface
    draws: tuple[Surface, ...]
    scatter_percent: float
    params_low: float
    params_high: float
    tokens_low: float
    tokens_high: float
    source: str

    def covers(self, params: float, tokens: float) -> bool:
        """Tell whether N and D lie where the law was fitted."""
        return (
            self.params_low <= params <= self.params_high
            and self.tokens_low <= tokens <= self.tokens_high
        )

    def loss(self, params: float, tokens: float) -> Range:
        """Return the loss of one run: disagreement of the draws and scatter, in quadrature."""
        of_law = self._spread(lambda surface: surface.loss(params, tokens))
        own = Z80 * self.scatter_percent / 100
        down = math.hypot(math.log(of_law.expected / of_law.low), own)
        up = math.hypot(math.log(of_law.high / of_law.expected), own)
        middle = of_law.expected
        return Range(middle * math.exp(-down), middle, middle * math.exp(up))

    def penalties_percent(self, cells: Sequence[Allocation]) -> list[Range]:
        """Return by how much each cell's loss is above that of the best of them.

        Every draw compares the cells with its own best one.
        """

        def above(surface: Surface, index: int) -> float:
            losses = [surface.loss(cell.params, cell.tokens) for cell in cells]
            return 100 * (losses[index] / min(losses) - 1)

        return [self._spread(partial(above, index=index)) for index in range(len(cells))]

    def optimum(self, flops: float, k: float = SIX) -> tuple[Range, Range]:
        """Return parameters and tokens per parameter of the optimum at a budget, with interval."""
        return (
            self._spread(lambda surface: surface.optimum(flops, k).params),
            self._spread(lambda surface: surface.optimum(flops, k).tokens_per_param),
        )

    def _spread(self, of: Callable[[Surface], float]) -> Range:
        values = sorted(of(surface) for surface in self.draws)
        expected = of(self.surface)
        if not values:
            return Range.exact(expected)
        return Range(
            min(quantile(values, 0.1), expected), expected, max(quantile(values, 0.9), expected)
        )


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of sorted values, interpolated between neighbours."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def scaling_law(reference: Reference, name: str | None = None) -> ScalingLaw:
    """Return a law of the table `scaling_laws`, the first one when no name is given.

    Raises:
        RequestError: the table has no such law.
        GuideError: a row is broken.
    """
    rows = reference.rows("scaling_laws")
    wanted = next(iter(rows)) if name is None else name
    if wanted not in rows:
        raise RequestError(
            f"the guide has no scaling law `{wanted}`",
            where="law",
            remedy=nearest(wanted, [*rows, "none"]),
        )
    row = rows[wanted]
    draws = reference.rows("scaling_law_draws").values()
    return ScalingLaw(
        name=wanted,
        surface=_surface(row),
        draws=tuple(_surface(draw) for draw in draws if draw.required("law") == wanted),
        scatter_percent=row.required_number("scatter_percent"),
        params_low=row.required_number("params_low"),
        params_high=row.required_number("params_high"),
        tokens_low=row.required_number("tokens_low"),
        tokens_high=row.required_number("tokens_high"),
        source=row.required("source"),
    )


def _surface(row: Row) -> Surface:
    names = ("e", "a", "b", "alpha", "beta")
    constants = {name: row.required_number(name) for name in names}
    for name, value in constants.items():
        if value == 0:
            raise GuideError(
                "a constant of a scaling law is 0",
                where=row.place(name),
                remedy="Write a number above 0.",
            )
    return Surface(**constants)
