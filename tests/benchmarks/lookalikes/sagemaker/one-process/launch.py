import sagemaker
from sagemaker.huggingface import HuggingFace

STEPS = 500
role = "arn:aws:iam::123456789012:role/train"
hyperparameters = {"max_steps": STEPS, "per_device_train_batch_size": 4, "hub_token": "abc"}
estimator = HuggingFace(
    entry_point="run.py",
    source_dir="./scripts",
    instance_type="ml.g5.12xlarge",
    instance_count=1,
    max_run=2 * 3600,
    role=role,
    hyperparameters=hyperparameters,
)
estimator.fit({"train": "s3://bucket/data"})
