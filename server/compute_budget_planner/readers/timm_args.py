"""The `args.yaml` of timm's training script: every option of the run, given or not.

The batch counts one device; `amp_dtype` means something only when `amp` is on. Source: `train.py`
of huggingface/pytorch-image-models.
"""

from compute_budget_planner.readers.config_reading import Spelling
from compute_budget_planner.readers.framework_reader import FrameworkReader, Settings, has_keys


def _spelling(settings: Settings) -> Spelling:
    mixed = settings.scalar("amp") is True
    precision = settings.text("amp_dtype") or "float16" if mixed else "fp32"
    return Spelling(
        "timm",
        "timm",
        own=[
            settings.say("precision", precision, "amp"),
            settings.say("micro_batch_size", settings.whole("batch_size"), "batch_size"),
            settings.give("image_size", "img_size"),
        ],
    )


READER = FrameworkReader("timm", has_keys("model", "batch_size", "opt", "sched"), _spelling)
