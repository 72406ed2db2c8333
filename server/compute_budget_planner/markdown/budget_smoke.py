"""The smoke tests on the budget page: a table of all, then how each runs and is judged."""

from collections.abc import Sequence

from compute_budget_planner.markdown.blocks import (
    Section,
    bullets,
    joined,
    number,
    section,
    span,
    table,
    titled,
)
from compute_budget_planner.markdown.escape import code, escaped
from compute_budget_planner.results import SmokeResult


def smoke_tests(smokes: Sequence[SmokeResult]) -> Section:
    """Return the smoke tests: steps, share of the data, wall-clock, how they are judged."""
    return section(
        "smoke-test",
        ["## Smoke Test"],
        table(
            [
                "Run",
                "Steps",
                "Data (%)",
                "GPUs",
                "Wall-clock minutes",
                "GPU-hours",
                "Share of the run (%)",
            ],
            (
                [
                    code(smoke.run),
                    number(smoke.steps),
                    number(smoke.data_fraction_percent),
                    number(smoke.n_gpus),
                    span(smoke.wall_clock_minutes),
                    span(smoke.gpu_hours),
                    number(smoke.share_of_run_percent),
                ]
                for smoke in smokes
            ),
        )
        or ["No smoke test sized yet."],
        *map(_smoke, smokes),
    )


def _smoke(smoke: SmokeResult) -> list[str]:
    expected = [
        ("Expected step time", smoke.expected_step_seconds, "seconds"),
        ("Expected peak memory of one accelerator", smoke.expected_peak_gib, "GiB"),
    ]
    return joined(
        [f"### {code(smoke.run)}"],
        [escaped(smoke.summary)],
        titled("**No number without:**", bullets(map(escaped, smoke.missing))),
        titled("**Flags:**", bullets(map(escaped, smoke.flags))),
        titled(
            "**How it runs:**",
            bullets(
                [
                    f"Steps decided by: {escaped(smoke.bound)}" if smoke.bound else "",
                    *(f"{label}: {span(value, unit)}" for label, value, unit in expected if value),
                    f"Options: {', '.join(map(code, smoke.overrides))}" if smoke.overrides else "",
                ]
            ),
        ),
        titled("**Passed when:**", bullets(map(escaped, smoke.pass_criteria))),
        titled("**Questions:**", bullets(map(escaped, smoke.questions))),
    )
