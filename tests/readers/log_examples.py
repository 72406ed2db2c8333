"""One small file of each family of logs: path → text, format, kind."""

STEP = "step: 10  loss:  3.4  memory: 6.5GiB(8.6%)  tps: 6,785  mfu: 39.7%\n"
RUN_ID = "0123456789abcdef0123456789abcdef"

LOG_EXAMPLES: dict[str, tuple[str, str, str]] = {
    "runs/events.out.tfevents.17.node.0": ("", "tensorboard_events", "log"),
    "wandb/run-1/files/wandb-metadata.json": (
        '{"os": "Linux", "python": "3.11", "startedAt": "2026-02-13", "gpu_count": 2}',
        "wandb_metadata",
        "log",
    ),
    "wandb/run-1/files/wandb-summary.json": (
        '{"_runtime": 9, "_step": 3, "loss": 1.0}',
        "wandb_summary",
        "log",
    ),
    "wandb/run-1/files/config.yaml": (
        "_wandb:\n  value: {}\nlr:\n  value: 0.1\n",
        "wandb_config",
        "log",
    ),
    f"mlruns/1/{RUN_ID}/meta.yaml": (
        (
            "run_id: a\nstart_time: 1700000000000\nend_time: 1700003600000\nstatus: 3\n"
            "lifecycle_stage: active\n"
        ),
        "mlflow_run",
        "log",
    ),
    f"mlruns/1/{RUN_ID}/metrics/loss": ("1700000000000 1.5 1\n", "mlflow_metric", "log"),
    f"mlruns/1/{RUN_ID}/params/lr": ("0.1", "mlflow_parameter", "log"),
    "lightning_logs/version_0/hparams.yaml": ("d_model: 64\n", "lightning_hparams", "log"),
    "lightning_logs/version_0/metrics.csv": (
        "epoch,step,train_loss\n0,49,1.5\n",
        "lightning_metrics",
        "log",
    ),
    "saves/trainer_log.jsonl": (
        '{"current_steps": 5, "total_steps": 9, "loss": 1.0, "elapsed_time": "0:00:05"}\n',
        "json_line_log",
        "log",
    ),
    "runs/detect/train/results.csv": (
        "epoch,time,train/box_loss\n1,10.5,1.25\n",
        "ultralytics_results",
        "log",
    ),
    "README.md": (f"# Numbers\n\n```\n{STEP}```\n", "quoted_log", "log"),
    "mlperf.txt": (
        '0: :::MLLOG {"time_ms": 1, "key": "global_batch_size", "value": 8}\n',
        "mlperf_log",
        "log",
    ),
    "megatron.out": (
        " iteration 1/ 9 | elapsed time per iteration (ms): 155.8 | global batch size: 8 |\n",
        "megatron_stdout",
        "log",
    ),
    "deepspeed.out": (
        "steps: 10 loss: 2.3 iter time (s): 0.5 samples/sec: 64.0\n",
        "deepspeed_stdout",
        "log",
    ),
    "titan.out": (STEP, "torchtitan_stdout", "log"),
    "composer.out": ("[batch=1/9]:\n\t Train loss/train/total: 9.5\n", "composer_stdout", "log"),
    "fairseq.out": (
        'INFO | train_inner | {"loss": "9.5", "num_updates": "10", "wall": "673"}\n',
        "fairseq_stdout",
        "log",
    ),
    "modded.txt": (
        "step:20/60 train_loss:8.0 train_time:1000ms step_avg:100.00ms\n",
        "modded_nanogpt_stdout",
        "log",
    ),
    "nano.log": ("iter 10: loss 9.8, time 123.45ms, mfu 31.20%\n", "nanogpt_stdout", "log"),
    "txl.txt": (
        "| epoch 1 step 10 | batches 10 / 50 | ms/batch 735.1 | tok/s 27165 | loss 10.09\n",
        "txl_stdout",
        "log",
    ),
    "detection.txt": (
        "eta: 0:03:40  iter: 20  loss: 1.2 (1.4)  time: 0.32 (0.35)  max mem: 3456\n",
        "detection_stdout",
        "log",
    ),
    "mmengine.log": (
        "Epoch(train)  [1][ 50/500]  eta: 1:02:01  time: 0.5  memory: 9232  loss: 1.2\n",
        "mmengine_stdout",
        "log",
    ),
    "timm.log": (
        "Train: 0 [  50/1251 (  4%)]  Loss: 6.92 (6.94)  Time: 0.412s, 2483.22/s  (0.5s, 2000/s)\n",
        "timm_stdout",
        "log",
    ),
}
