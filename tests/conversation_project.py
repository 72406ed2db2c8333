"""A study with a job, a design plan and memory boards, as a conversation finds it."""

import json
from pathlib import Path

_RISKS = (
    "# Risk Board\n\n"
    "| ID | Kind | Status | Severity | Probability | Summary | Threatens | Mitigation | Actions "
    "| Certainty | Updated |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
    "| RSK-003 | novelty | open | low | low | close to older work | CLM-001 | cite it | "
    "| inferred | 2026-10-01 |\n\n## Accepted Risks\n\n- none yet\n"
)
_EVIDENCE = (
    "# Evidence Board\n\n"
    "| ID | Kind | Status | Summary | Source paths | Supports | Weakens | Traced by "
    "| Visualized by | Certainty | Updated |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
    "| EVD-004 | proof | verified | appendix | paper/a.tex | CLM-001 | | | | observed "
    "| 2026-10-02 |\n"
)
_DECISIONS = (
    "# Decision Log\n\n## DEC-002 - Train from scratch\n- Date: 2026-10-01\n"
    "- Decision: no pre-trained weights\n- Certainty: user-stated\n"
)
_PLAN_ROWS = (
    ("base", "baseline", "none"),
    ("short", "CLM-001 holds at half the length", "seq_len: 1024 -> 512"),
    ("deep", "CLM-001 holds at twice the depth", "n_layers: 12 -> 24"),
    ("lr", "sensitivity to the rate", "learning_rate in {1e-4, 1e-3}"),
    ("depth", "sensitivity to depth", "n_layers: 12 -> 6"),
    ("memory-token", "robustness of memory", "a memory token per layer"),
    ("dropout", "regularisation", "dropout: 0.1 -> 0.2"),
)


def _plan() -> str:
    rows = "".join(
        f"| {run} | {purpose} | {change} | | openwebtext | loss | 2 | - | - |\n"
        for run, purpose, change in _PLAN_ROWS
    )
    return (
        "# Experiment Design Plan\n\nMode: ablation\nTarget claim: CLM-001\n\n"
        "## 3. Evidence Standard\n\n- Required repeats/seeds: 2\n\n## 6. Run Matrix\n\n"
        "| Run ID | Purpose | Change | Fixed controls | Dataset/split | Metric | Seeds "
        f"| Expected result | Output |\n|---|---|---|---|---|---|---|---|---|\n{rows}"
    )


def write_study(root: Path) -> Path:
    """Fill a folder with the study and return it."""
    shape = {
        "model_type": "gpt2",
        "n_layer": 12,
        "n_embd": 768,
        "n_head": 12,
        "n_positions": 1024,
        "vocab_size": 50257,
    }
    files = {
        "memory/project.yaml": (
            "project:\n  name: study\nid_counters:\n  risk: 9\n  evidence: 4\n  decision: 1\n"
        ),
        "memory/risk-board.md": _RISKS,
        "memory/evidence-board.md": _EVIDENCE,
        "memory/decision-log.md": _DECISIONS,
        "docs/experiments/experiment_plan_2026-11-01_study.md": _plan(),
        "environments.yaml": (
            "ibex:\n  type: slurm\n  defaults: {gpus: 4, walltime: '12:00:00', "
            "max_walltime: '24:00:00'}\n"
        ),
        "code/models/gpt2/config.json": json.dumps(shape),
        "code/experiments/configs/main.yaml": (
            "model: models/gpt2/config.json\ndataset: openwebtext\n"
            "per_device_train_batch_size: 16\ngradient_accumulation_steps: 2\n"
            "seq_len: 1024\nmax_steps: 20000\nlearning_rate: 6.0e-4\nbf16: true\n"
        ),
        "code/jobs/main.sh": (
            "#!/bin/bash\n# Env: ibex (Ibex)\n#SBATCH --job-name=main\n"
            "#SBATCH --gres=gpu:a100-sxm4-80gb:4\n#SBATCH --time=12:00:00\n"
            "torchrun --nproc_per_node=4 train.py --config experiments/configs/main.yaml"
            " --output_dir outputs/main\n"
        ),
    }
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return root
