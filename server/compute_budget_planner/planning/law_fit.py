"""A law fitted to measured losses: a parabola per budget, a power law across budgets.

Per budget (k·N·D within `same_budget_percent`) the logarithm of the loss is a parabola in ln N
(isoFLOP profiles, Hoffmann et al. 2022, arXiv:2203.15556 §3.2); its lowest point is the best N.
Across budgets N* = c·C^a and, since k·N*·D* = C, D* = C^(1 − a)/(k·c). Intervals are central 80 %
ranges of a parametric bootstrap: new noise of the size the residuals show, its own uncertainty
included. A minimum at the edge of its cells is none, and says nothing about the exponent.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from compute_budget_planner.planning.scaling_law import quantile

_DRAWS = 300
_SEED = 1


@dataclass(frozen=True)
class MeasuredPoint:
    """The validation loss a run of `params` reached after `tokens`."""

    params: float
    tokens: float
    loss: float
    seed: int

    @property
    def size(self) -> float:
        """Parameters to three digits: what counts as the same size."""
        return float(f"{self.params:.3g}")


@dataclass(frozen=True)
class Interval:
    """10th percentile, estimate and 90th percentile; ends are None when nothing tells the noise."""

    low: float | None
    expected: float
    high: float | None


@dataclass(frozen=True)
class BudgetMinimum:
    """The lowest point of one budget.

    `status` is `interior`, `edge` (lowest at or beyond the outermost cell), `no minimum` (the
    losses do not curve upwards) or `too few` (fewer than three sizes). `params` is None unless
    interior. `seeds` is the least number of seeds of any cell of the budget.
    """

    nd_product: float
    sizes: int
    seeds: int
    status: str
    lowest_params: float
    params: Interval | None


@dataclass(frozen=True)
class LawFit:
    """All minima, and the exponents of N* and D* in the budget where two or more are interior."""

    minima: tuple[BudgetMinimum, ...]
    params_exponent: Interval | None
    tokens_exponent: Interval | None
    noise_percent: float | None


@dataclass(frozen=True)
class _Parabola:
    """ln loss over x = ln N − centre; `weights` turn losses into coefficients."""

    points: tuple[MeasuredPoint, ...]
    centre: float
    xs: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    coefficients: tuple[float, float, float]

    @property
    def squares(self) -> float:
        """Sum of squared residuals."""
        c0, c1, c2 = self.coefficients
        fitted = (c0 + c1 * x + c2 * x * x for x in self.xs)
        return sum((math.log(p.loss) - f) ** 2 for p, f in zip(self.points, fitted, strict=True))

    @property
    def nd_product(self) -> float:
        """Geometric mean of N·D."""
        logs = [math.log(p.params * p.tokens) for p in self.points]
        return math.exp(sum(logs) / len(logs))

    def vertex(self, noise: Sequence[float] | None = None) -> float | None:
        """Return ln N of the lowest point, with noise within the cells; None without a minimum."""
        _, c1, c2 = self.coefficients
        if noise is not None:
            c1 += sum(w * n for w, n in zip(self.weights[1], noise, strict=True))
            c2 += sum(w * n for w, n in zip(self.weights[2], noise, strict=True))
        if c2 <= 0:
            return None if noise is None else self.centre + (min if c1 > 0 else max)(self.xs)
        lowest = -c1 / (2 * c2)
        if noise is not None:
            lowest = min(max(lowest, min(self.xs)), max(self.xs))
        return self.centre + lowest


def fit_law(points: Sequence[MeasuredPoint], same_budget_percent: float) -> LawFit:
    """Fit the minima of every budget and the power law across those in the interior."""
    groups = _by_budget(points, same_budget_percent)
    parabolas = [_parabola(group) if _sizes(group) >= 3 else None for group in groups]
    status = [_status(g, p) for g, p in zip(groups, parabolas, strict=True)]
    fitted = [p for p in parabolas if p is not None]
    freedom = sum(len(p.points) - 3 for p in fitted)
    squares = sum(p.squares for p in fitted)
    sigma = math.sqrt(squares / freedom) if freedom > 0 else None
    interior = [
        p for p, s in zip(parabolas, status, strict=True) if p is not None and s == "interior"
    ]
    draws = [] if sigma is None else _bootstrap(interior, sigma, freedom)
    minima, rank = [], 0
    for group, parabola, state in zip(groups, parabolas, status, strict=True):
        found = None
        if parabola is not None and state == "interior":
            logs = sorted(draw[rank] for draw in draws)
            found = _interval(math.exp(parabola.vertex() or 0.0), [math.exp(v) for v in logs])
            rank += 1
        minima.append(_minimum(group, state, found))
    exponent = None
    if len(interior) >= 2:
        budgets = [math.log(p.nd_product) for p in interior]
        expected = _slope(budgets, [p.vertex() or 0.0 for p in interior])
        exponent = _interval(expected, sorted(_slope(budgets, draw) for draw in draws))
    return LawFit(
        tuple(minima), exponent, _complement(exponent), None if sigma is None else 100 * sigma
    )


def _by_budget(points: Sequence[MeasuredPoint], percent: float) -> list[list[MeasuredPoint]]:
    groups: list[list[MeasuredPoint]] = []
    for point in sorted(points, key=lambda p: p.params * p.tokens):
        first = groups[-1][0] if groups else None
        limit = 0.0 if first is None else first.params * first.tokens * (1 + percent / 100)
        if first is not None and point.params * point.tokens <= limit:
            groups[-1].append(point)
        else:
            groups.append([point])
    return groups


def _sizes(group: Sequence[MeasuredPoint]) -> int:
    return len({p.size for p in group})


def _parabola(group: Sequence[MeasuredPoint]) -> _Parabola:
    logs = [math.log(p.params) for p in group]
    centre = sum(logs) / len(logs)
    xs = tuple(v - centre for v in logs)
    weights = _least_squares(xs)
    losses = [math.log(p.loss) for p in group]
    c0, c1, c2 = (sum(w * v for w, v in zip(row, losses, strict=True)) for row in weights)
    return _Parabola(tuple(group), centre, xs, weights, (c0, c1, c2))


def _least_squares(xs: Sequence[float]) -> tuple[tuple[float, ...], ...]:
    """Return the rows that turn values at `xs` into least-squares coefficients of 1, x, x²."""
    s = [sum(x**power for x in xs) for power in range(5)]
    m = ((s[0], s[1], s[2]), (s[1], s[2], s[3]), (s[2], s[3], s[4]))

    def cofactor(i: int, j: int) -> float:
        # Cyclic indices give the sign by themselves.
        a, b, c, d = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
        return m[a][c] * m[b][d] - m[a][d] * m[b][c]

    determinant = sum(m[0][j] * cofactor(0, j) for j in range(3))
    return tuple(
        tuple(sum(cofactor(i, j) * x**j for j in range(3)) / determinant for x in xs)
        for i in range(3)
    )


def _status(group: Sequence[MeasuredPoint], parabola: _Parabola | None) -> str:
    if parabola is None:
        return "too few"
    vertex = parabola.vertex()
    sizes = sorted({p.size for p in group})
    if vertex is None:
        return "no minimum"
    if _lowest(group) in (sizes[0], sizes[-1]):
        return "edge"
    return "interior" if math.log(sizes[0]) < vertex < math.log(sizes[-1]) else "edge"


def _lowest(group: Sequence[MeasuredPoint]) -> float:
    """Return the size of least mean loss."""
    losses: dict[float, list[float]] = {}
    for point in group:
        losses.setdefault(point.size, []).append(point.loss)
    return min(losses, key=lambda size: sum(losses[size]) / len(losses[size]))


def _minimum(group: Sequence[MeasuredPoint], status: str, found: Interval | None) -> BudgetMinimum:
    seeds: dict[float, set[int]] = {}
    for point in group:
        seeds.setdefault(point.size, set()).add(point.seed)
    logs = [math.log(p.params * p.tokens) for p in group]
    return BudgetMinimum(
        nd_product=math.exp(sum(logs) / len(logs)),
        sizes=len(seeds),
        seeds=min(len(s) for s in seeds.values()),
        status=status,
        lowest_params=_lowest(group),
        params=found,
    )


def _bootstrap(parabolas: Sequence[_Parabola], sigma: float, freedom: int) -> list[list[float]]:
    """Return ln N of the minima under new noise, whose size is uncertain with `freedom`."""
    source = random.Random(_SEED)  # noqa: S311  statistics, no secret
    draws = []
    for _ in range(_DRAWS):
        size = sigma * math.sqrt(freedom / (2 * source.gammavariate(freedom / 2, 1.0)))
        draws.append([p.vertex([source.gauss(0.0, size) for _ in p.xs]) or 0.0 for p in parabolas])
    return draws


def _slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    over = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return over / sum((x - x_mean) ** 2 for x in xs)


def _interval(expected: float, ordered: Sequence[float]) -> Interval:
    if not ordered:
        return Interval(None, expected, None)
    low, high = quantile(ordered, 0.1), quantile(ordered, 0.9)
    return Interval(min(low, expected), expected, max(high, expected))


def _complement(interval: Interval | None) -> Interval | None:
    if interval is None:
        return None
    low, high = interval.high, interval.low
    return Interval(
        None if low is None else 1 - low,
        1 - interval.expected,
        None if high is None else 1 - high,
    )
