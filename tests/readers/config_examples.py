"""One small file of each family of configurations and data: path → text, format, kind."""

MEGATRON_INDEX = "MMIDIDX\x00\x00" + "\x01" + "\x00" * 7 + "\x08" + "\x05" + "\x00" * 7 + "\x03"

CONFIG_EXAMPLES: dict[str, tuple[str, str, str]] = {
    "sft/axolotl.yml": (
        "base_model: a/b\nmicro_batch_size: 2\ndatasets:\n  - path: c/d\n",
        "axolotl",
        "config",
    ),
    "gui.json": (
        '{"max_train_epochs": "5", "network_dim": 8, "train_batch_size": 2}',
        "kohya",
        "config",
    ),
    "recipe.yaml": ("model:\n  _component_: torchtune.models.a.b\n", "torchtune", "config"),
    "smol.yaml": (
        "tokens: {micro_batch_size: 8, batch_accumulation_per_replica: 2}\n",
        "nanotron",
        "config",
    ),
    "olmo.yaml": (
        (
            "max_duration: 1ep\nglobal_train_batch_size: 8\nmodel: {d_model: 64}\n"
            "tokenizer: {identifier: a}\n"
        ),
        "olmo",
        "config",
    ),
    "levanter.yaml": (
        "trainer: {num_train_steps: 10, train_batch_size: 8}\n",
        "levanter",
        "config",
    ),
    "litgpt.yaml": (
        "train: {global_batch_size: 8, micro_batch_size: 2}\n",
        "litgpt",
        "config",
    ),
    "mpt.yaml": ("max_duration: 10ba\nglobal_train_batch_size: 8\n", "llm_foundry", "config"),
    "asr.yaml": (
        "trainer: {max_epochs: 3}\nexp_manager: {}\nmodel: {train_ds: {batch_size: 4}}\n",
        "nemo",
        "config",
    ),
    "cli.yaml": ("seed_everything: 1\ntrainer: {max_epochs: 3}\n", "lightning_cli", "config"),
    "wav2vec.yaml": (
        "task: {_name: a}\noptimization: {max_update: 10}\n",
        "fairseq",
        "config",
    ),
    "neox.yml": (
        "train_micro_batch_size_per_gpu: 4\nnum-layers: 2\ntrain-iters: 9\n",
        "neox",
        "config",
    ),
    "rcnn.yaml": ("SOLVER: {IMS_PER_BATCH: 16, MAX_ITER: 90}\n", "detectron2", "config"),
    "titan.toml": (
        '[training]\nseq_len = 8\n[activation_checkpoint]\nmode = "none"\n',
        "torchtitan",
        "config",
    ),
    "args.yaml": ("task: detect\nimgsz: 640\nnbs: 64\nepochs: 3\n", "ultralytics", "config"),
    "swin.yaml": ("MODEL: {NAME: swin}\nDATA: {IMG_SIZE: 224}\n", "yacs", "config"),
    "asr1.yaml": ("max_epoch: 30\nbatch_type: numel\nbatch_bins: 100\n", "espnet", "config"),
    "timm.yaml": (
        "model: a\nbatch_size: 8\nopt: sgd\nsched: cosine\n",
        "timm",
        "config",
    ),
    "conf/config.yaml": ("defaults:\n  - _self_\nlr: 0.1\n", "hydra", "config"),
    "outputs/a/.hydra/overrides.yaml": ("- a=1\n", "hydra_run", "config"),
    "sweep.yaml": ("method: grid\nparameters:\n  lr: {values: [1, 2]}\n", "wandb_sweep", "config"),
    "grid.yaml": ("sweep:\n  lr: [0.1, 0.2]\n", "sweep", "config"),
    "config/small.py": ("block_size = 8\nmax_iters = 10\n", "nanogpt_config", "config"),
    "configs/deit.py": ("_base_ = []\nmodel = dict(type='A')\n", "mmengine", "config"),
    "configs/vit.py": (
        "def get_config():\n  config = mlc.ConfigDict()\n  config.lr = 0.1\n  return config\n",
        "ml_collections",
        "config",
    ),
    "tune.py": ("from ray import tune\ntune.run(f, num_samples=4)\n", "ray_tune", "config"),
    "train.py": (
        "p.add_argument('--lr', default=0.1)\np.add_argument('--epochs', default=3)\n",
        "script_defaults",
        "config",
    ),
    "cache/dataset_info.json": (
        '{"splits": {"train": {"num_examples": 7}}}',
        "dataset_info",
        "dataset",
    ),
    "data/train.jsonl": ('{"text": "abcdefgh"}\n', "data_lines", "dataset"),
    "data/text_document.idx": (MEGATRON_INDEX, "token_file", "dataset"),
    "data/train-0.parquet": ("PAR1\x00\x00\x00\x00PAR1", "parquet", "dataset"),
}
