"""Host time that small work cannot go below: per kernel, and per layer of a tiny transformer.

Layers too narrow to keep any device busy take the time the host needs to launch their kernels.
The difference between a deep and a shallow stack leaves embedding, head and loss out.
"""

from dataclasses import dataclass

from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.measuring.backend import Backend, GptShape, Unmeasurable
from compute_budget_planner.measuring.timing import calls_per_sample, samples, spread

_SHALLOW, _DEEP = 2, 6
_SAMPLES, _SENSIBLE = 11, 9


@dataclass(frozen=True)
class LaunchFloor:
    """Seconds of one tiny kernel, and of a layer's forward and backward pass together."""

    kernel_seconds: Range
    layer_seconds: Range | None
    compiled_layer_seconds: Range | None

    @property
    def compiled_share(self) -> Range | None:
        """What compilation leaves of a layer's time; the ends pair slow with fast."""
        eager, compiled = self.layer_seconds, self.compiled_layer_seconds
        if eager is None or compiled is None:
            return None
        return Range(
            compiled.low / eager.high,
            compiled.expected / eager.expected,
            compiled.high / eager.low,
        )


def measure_launch_floor(
    backend: Backend, budget_seconds: float, *, compiled: bool
) -> tuple[LaunchFloor, list[str]]:
    """Return the floor and why parts of it were not measured.

    Raises:
        Unmeasurable: not even a single kernel runs.
    """
    kernel = spread(samples(backend, backend.kernel(), budget_seconds / 10))
    layer: dict[bool, Range | None] = {False: None, True: None}
    problems = []
    for is_compiled in (False, True) if compiled else (False,):
        try:
            layer[is_compiled] = _layer_seconds(backend, budget_seconds / 2, compiled=is_compiled)
        except Unmeasurable as reason:
            form = "compiled" if is_compiled else "eager"
            problems.append(f"{form} layers: {reason}")
    return LaunchFloor(kernel, layer[False], layer[True]), problems


def _layer_seconds(backend: Backend, budget_seconds: float, *, compiled: bool) -> Range:
    precision = backend.device.training_precision
    shallow, deep = (
        backend.passes(GptShape(layers, 64, 4, 128, 64, 1), precision, compiled=compiled)
        for layers in (_SHALLOW, _DEEP)
    )
    share = budget_seconds / (2 * _SAMPLES)
    calls = [calls_per_sample(backend, operation, share * 5) for operation in (shallow, deep)]
    # In turns: a host that gets busy slows both.
    differences = [
        backend.seconds(deep, calls[1]) - backend.seconds(shallow, calls[0])
        for _ in range(_SAMPLES)
    ]
    layers = [seconds / (_DEEP - _SHALLOW) for seconds in differences if seconds > 0]
    if len(layers) < _SENSIBLE:
        raise Unmeasurable("the host is too busy to time them")
    return spread(layers)


def launch_us(layer_seconds: float, reference: Reference) -> float:
    """Return microseconds per kernel as the guide counts them.

    That is the time of a layer over `kernels_per_layer` × (1 + `backward_passes`), so that the
    guide's own count times this gives the time measured.
    """
    passes = 1.0 + reference.value("backward_passes")
    return layer_seconds / (reference.value("kernels_per_layer") * passes) * 1e6
