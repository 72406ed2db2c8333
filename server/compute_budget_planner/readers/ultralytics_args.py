"""The `args.yaml` of an Ultralytics run, or a training configuration of the same keys.

`batch` counts all devices (−1 and shares of memory are automatic); `device` lists devices;
`epochs` is a ceiling under `patience`. Source: Ultralytics' configuration reference.
"""

from compute_budget_planner.readers.config_reading import Spelling
from compute_budget_planner.readers.contract import Problem
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.framework_reader import FrameworkReader, Settings, has_keys


def _spelling(settings: Settings) -> Spelling:
    batch = settings.whole("batch")
    return Spelling(
        "ultralytics",
        "ultralytics",
        own=[settings.say("global_batch_size", batch, "batch"), *_devices(settings)],
        dropped=frozenset({"optimizer", "n_gpus", "gpus_per_node"})
        if settings.text("optimizer") == "auto"
        else frozenset({"n_gpus", "gpus_per_node"}),
        left_out=("name", "project"),
        problems=[*_hours(settings), *_on_cpu(settings)],
    )


def _devices(settings: Settings) -> list[DirectValue]:
    node = settings.node("device")
    if node is not None and node.items:
        return [settings.say("n_gpus", len(node.items), "device")]
    parts = [part.strip() for part in settings.text("device").split(",")]
    numbered = bool(parts) and all(part.isdigit() for part in parts)
    return [settings.say("n_gpus", len(parts), "device")] if numbered else []


def _hours(settings: Settings) -> list[Problem]:
    if settings.scalar("time") is None:
        return []
    text = "`time` ends training after so many hours whatever the epochs; give `time_limit_hours`."
    return [settings.ask(text, "time")]


def _on_cpu(settings: Settings) -> list[Problem]:
    if settings.text("device") != "cpu":
        return []
    return [settings.ask("the run is on the CPU; on how many GPUs (`n_gpus`)?", "device")]


READER = FrameworkReader("ultralytics", has_keys("imgsz", "nbs"), _spelling)
