"""One small file of every scheduler and launcher, as `path: (text, format, kind)`."""

JOB_EXAMPLES = {
    "train.lsf": ('#!/bin/bash\n#BSUB -gpu "num=1"\npython train.py\n', "lsf", "job"),
    "train.pbs": ("#!/bin/bash\n#PBS -l select=1:ngpus=1\npython train.py\n", "pbs", "job"),
    "job.yaml": (
        "apiVersion: batch/v1\nkind: Job\nspec: {template: {spec: {containers: []}}}\n",
        "kubernetes",
        "job",
    ),
    "runai.yaml": (
        "apiVersion: run.ai/v2alpha1\nkind: TrainingWorkload\nspec: {gpu: {value: '1'}}\n",
        "runai_workload",
        "job",
    ),
    "sky.yaml": ("resources: {accelerators: A100}\nrun: python train.py\n", "skypilot", "job"),
    ".dstack.yml": ("type: task\nresources: {gpu: A100}\n", "dstack", "job"),
    "mcli.yaml": ("image: i\ncommand: python train.py\ncompute: {gpus: 8}\n", "mcli", "job"),
    "det.yaml": ("entrypoint: a:B\nsearcher: {name: single}\n", "determined", "job"),
    "def.json": ('{"jobDefinitionName": "a", "type": "container"}', "aws_batch", "job"),
    "launch.py": (
        "import sagemaker\nE(instance_type='ml.p3.2xlarge').fit()\n",
        "sagemaker",
        "job",
    ),
    "job.o1": ("Exit Status: 0\nWalltime Used: 09:38:37\n", "pbs_report", "log"),
    "lsf.out": ("Resource usage summary:\n    Run time : 10 sec.\n", "lsf_report", "log"),
    "nnunet.txt": (
        "cite nnU-Net\nThis is the configuration used by this training:\n",
        "nnunet_log",
        "log",
    ),
}
