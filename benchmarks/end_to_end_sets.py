"""The end-to-end sets: a job or config, what its user would state beside it, and its log.

Stated is only what a user knows before submitting and no file of the set says; each fact names
where it is public. FLOPs are 2 × multiply-adds of one forward pass, counted layer by layer from
the published shape. Nothing stated is read off the time a log shows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = bool | int | float | str


@dataclass(frozen=True)
class Stated:
    """A fact its user would state, and where it is public."""

    value: Value
    source: str


@dataclass(frozen=True)
class Log:
    """Where the measured time of a run stands: the groups `hours`, `minutes`, `seconds`, `ms`.

    The last match counts; where `of` is `step`, the median of all after the first, in seconds.
    """

    unit: str
    pattern: str
    of: str = "run"


@dataclass(frozen=True)
class Earlier:
    """A measured speed to calibrate with: an early part of the log, or another run of the set.

    Of the files of `unit` only what stands before `until` is shown to the product; `stated` are
    facts of that run.
    """

    what: str
    unit: str = ""
    until: str = ""
    stated: Mapping[str, Stated] = field(default_factory=dict)


@dataclass(frozen=True)
class EndToEndSet:
    """One run: the units shown before it starts, the facts stated, the log kept apart."""

    name: str
    units: tuple[str, ...]
    stated: Mapping[str, Stated]
    log: Log | None
    earlier: Earlier | None = None


_NNUNET = "nnUNetTrainer.py of MIC-DKFZ/nnUNet"
_PLAN = "the plan of linusjuni/spinal-fairness, as nnU-Net prints it"
_MAE = "defaults of main_pretrain.py of kaemp/MAE-For-Medical-Images"
_PADDLE = "README of JackXfmax/PaddleOCR_VL_1.5_Fine_Tuning"
_RUNTIME = r'"train_runtime": (?P<seconds>[\d.]+)'

SETS: tuple[EndToEndSet, ...] = (
    EndToEndSet(
        "nnU-Net ResEnc-L 2D, 1000 epochs",
        ("lsf/01-nnunet-template.sh",),
        {
            "gpu": Stated("A100-PCIe-40GB", "docs/nnunet/08_carbon_footprint.md of the project"),
            "max_steps": Stated(250_000, f"1000 epochs of 250 iterations; {_NNUNET}"),
            "eval_every_steps": Stated(250, f"validation after each epoch; {_NNUNET}"),
            "eval_examples": Stated(1_750, f"50 validation iterations of 35 patches; {_NNUNET}"),
            "precision": Stated("fp16", f"autocast with a gradient scaler; {_NNUNET}"),
            "optimizer": Stated("sgd-momentum", f"SGD with Nesterov momentum; {_NNUNET}"),
            "compile": Stated(True, f"the default; {_NNUNET}"),
            "micro_batch_size": Stated(35, _PLAN),
            "image_size": Stated(512, _PLAN),
            "model_family": Stated("unet", _PLAN),
            "params_total": Stated(140_020_021, f"counted over the layers of {_PLAN}"),
            "flops_per_sample_forward": Stated(2.603e11, f"counted over the layers of {_PLAN}"),
            "activations_per_sample": Stated(1.298e8, f"outputs of the convolutions of {_PLAN}"),
        },
        Log("lsf_report/01-nnunet-2d-f0.out", r"Run time :\s+(?P<seconds>\d+) sec"),
        Earlier("the first ten epochs", "lsf_report/01-nnunet-2d-f0.out", ": Epoch 10\n"),
    ),
    EndToEndSet(
        "MAE ViT-B/16, 400 epochs",
        ("pbs/02-mae-volta.pbs",),
        {
            "gpu": Stated("V100-32GB", "the name of the queue, `volta_gpu`"),
            "micro_batch_size": Stated(64, _MAE),
            "epochs": Stated(400, _MAE),
            "image_size": Stated(224, _MAE),
            "optimizer": Stated("adamw", "main_pretrain.py of the project"),
            "precision": Stated("fp16", "engine_pretrain.py of the project: autocast"),
            "dataset_examples": Stated(35_126, "dataset.md of the project"),
            "framework_drop_last": Stated(True, "main_pretrain.py of the project"),
            "model_family": Stated("vit", "arXiv:2111.06377"),
            "params_total": Stated(
                111_907_840, "encoder and decoder of arXiv:2111.06377, app. A.1, as published"
            ),
            "flops_per_sample_forward": Stated(
                1.956e10,
                "arXiv:2111.06377, app. A.1: 12 × 768 on 50 tokens, then 8 × 512 on 197",
            ),
        },
        Log(
            "pbs_report/01-mae-original.txt",
            r"Walltime Used: (?P<hours>\d+):(?P<minutes>\d+):(?P<seconds>\d+)",
        ),
        Earlier(
            "an aborted try on the same cluster: 10.74 s between its 71 steps",
            stated={
                "step_seconds": Stated(
                    10.74 / 70,
                    "tfevents/01-mae-volta-1: engine_pretrain.py writes one point a step",
                )
            },
        ),
    ),
    EndToEndSet(
        "Whisper-medium, Portuguese, 6000 steps",
        ("bash/07-whisper-hf-run.sh",),
        {
            "gpu": Stated("A100-40GB", "README of the Whisper fine-tuning event, Hugging Face"),
            "n_gpus": Stated(1, "the model card: a total batch of 32, as of one device"),
            "params_total": Stated(763_857_920, "config.json of openai/whisper-medium"),
            "flops_per_sample_forward": Stated(
                1.32e12,
                "arXiv:2212.04356, table 1: 24 × 1024 on 1500 frames, then on some 32 tokens",
            ),
        },
        Log("hf_results/01-whisper-medium-pt.json", _RUNTIME),
    ),
    EndToEndSet(
        "Megatron 52B on 64 V100, one step",
        ("slurm/20-meg52b-v100.slurm",),
        {"gpu": Stated("V100-SXM2-32GB", "Jean Zay documentation of IDRIS: `-C v100-32g`")},
        Log(
            "megatron_stdout/02-meg52b-v100.out",
            r"elapsed time per iteration \(ms\): (?P<ms>[\d.]+)",
            of="step",
        ),
        Earlier("the same run under DeepSpeed", "deepspeed_stdout/01-meg-ds-3d-52b.out"),
    ),
    EndToEndSet(
        "GPTTT, 500 steps",
        ("hydra_run/01-gpttt-outputs",),
        {"vocab_size": Stated(65, "characters of its input.txt")},
        None,
    ),
    EndToEndSet(
        "PaddleOCR-VL LoRA, 3 epochs",
        ("hf_args/06-paddleocr-train-config.yaml",),
        {
            "gpu": Stated("RTX-4090", _PADDLE),
            "n_gpus": Stated(2, _PADDLE),
            "dataset_examples": Stated(1_800, _PADDLE),
            "params_total": Stated(900_000_000, "arXiv:2510.14528, title"),
        },
        Log("hf_results/04-paddleocr-handmade.json", _RUNTIME),
    ),
    EndToEndSet(
        "Ultralytics wheat, on a CPU",
        ("ultralytics/01-args-yaml.yaml",),
        {},
        Log("ultralytics_results/01-wheat-weed-102.csv", r"(?m)^\d+,(?P<seconds>[\d.]+),"),
        Earlier("the first ten epochs", "ultralytics_results/01-wheat-weed-102.csv", "\n11,"),
    ),
    EndToEndSet(
        "Whisper-large-v2, Japanese, 5000 steps",
        ("hf_model_config/08-whisper-large-v2.json",),
        {
            "max_steps": Stated(5_000, "its model card"),
            "micro_batch_size": Stated(50, "its model card"),
            "n_gpus": Stated(1, "its model card: no total batch beside that of one device"),
            "precision": Stated("fp16", "its model card: native AMP"),
            "framework": Stated("transformers", "its model card"),
            "params_total": Stated(1_543_304_960, "config.json of openai/whisper-large-v2"),
            "flops_per_sample_forward": Stated(
                2.65e12,
                "arXiv:2212.04356, table 1: 32 × 1280 on 1500 frames, then on some 32 tokens",
            ),
        },
        Log("hf_trainer_state/04-whisper-large-state.json", _RUNTIME),
    ),
    EndToEndSet(
        "T5-small summarisation, 3 epochs",
        ("hf_model_config/12-t5-small.json",),
        {
            "epochs": Stated(3, "its README"),
            "dataset_examples": Stated(287_113, "CNN/DailyMail 3.0.0: rows of its training split"),
            "micro_batch_size": Stated(4, "README of the summarisation example of transformers"),
            "n_gpus": Stated(1, "the host of its event files, a desktop"),
            "framework": Stated("transformers", "its config.json, `transformers_version`"),
            "params_total": Stated(60_506_624, "config.json of t5-small"),
            "flops_per_sample_forward": Stated(
                7.0e10, "arXiv:1910.10683: 6 × 512 on 1024 tokens, then 6 × 512 on 128"
            ),
        },
        Log("hf_results/08-t5-small-cnn.json", _RUNTIME),
    ),
)
