"""Which option or config key means which fact: the aliases, as data.

A key is compared in lower case with `_` for `-`; dotted keys are looked up whole, then by their
last two parts, then by the last part alone, so short or ambiguous names stand here only with
the section they belong to (`rollout.n`) or under the one framework that uses them so.
Source: the option names in the documentation of the frameworks named here.
"""


def _names(text: str) -> dict[str, str]:
    table: dict[str, str] = {}
    for line in text.strip().splitlines():
        fact, _, names = line.partition(":")
        table |= dict.fromkeys(names.split(), fact.strip())
    return table


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ALIASES: dict[str, str] = _names(
    """
    model: model model_name model_name_or_path base_model pretrained_model_name_or_path model_id
    model: hf_model arch model.path model.name model.arch base_model_name_or_path
    model_family: model_family model_type
    params_total: params_total
    n_layers: n_layers n_layer num_layers num_hidden_layers
    d_model: d_model hidden_size n_embd n_embed hidden_width
    n_heads: n_heads n_head num_heads num_attention_heads
    n_kv_heads: n_kv_heads num_key_value_heads num_query_groups
    head_dim: head_dim kv_channels
    d_ff: d_ff ffn_hidden_size intermediate_size n_inner ffn_dim dim_feedforward
    glu: glu swiglu
    vocab_size: vocab_size padded_vocab_size pad_vocab_size_to
    tied_embeddings: tied_embeddings tie_word_embeddings
    n_experts: n_experts num_experts num_local_experts
    experts_per_token: experts_per_token moe_router_topk num_experts_per_tok
    num_classes: num_classes
    patch_size: patch_size
    dataset: dataset dataset_name dataset_path data_path train_file train_data dataset_dir
    dataset: dataset.source data_source image_text_folder
    dataset_examples: dataset_examples train_num_samples num_train_examples n_train_examples
    dataset_examples: num_train_samples n_train_samples data.n_examples data.num_examples
    dataset_examples: dataset.n_examples dataset.num_examples
    dataset_tokens: dataset_tokens
    seq_len: seq_len seq_length sequence_len sequence_length max_seq_len max_seq_length cutoff_len
    seq_len: block_size context_length context_len ctx_len model_max_length max_length
    seq_len: max_source_length tokens_per_sample encoder_seq_length max_sequence_length seqlen
    seq_len: max_context_width max_len
    image_size: image_size img_size imgsz input_size resolution force_image_size
    packing: packing sample_packing neat_packing dataset.packed
    epochs: epochs num_epochs max_epochs n_epochs num_train_epochs total_epochs train_epochs
    epochs: max_epoch max_train_epochs
    max_steps: max_steps total_steps num_steps train_steps training_steps num_training_steps steps
    max_steps: max_iters max_iter iterations num_iterations max_train_steps train_iters max_update
    max_steps: num_train_steps total_training_steps max_num_steps
    train_tokens: train_tokens
    learning_rate: learning_rate lr base_lr peak_lr
    seeds: seeds n_seeds num_seeds
    tuning_trials: n_trials tuning_trials
    eval_examples: max_eval_samples eval_samples val_samples n_eval_samples num_eval_samples
    eval_every_steps: eval_steps eval_interval eval_every eval_every_steps val_every
    checkpoint_every_steps: save_steps save_interval checkpointing_steps checkpoint_interval
    checkpoint_every_steps: ckpt_interval save_every save_every_n_steps checkpoint_every_steps
    num_generations: num_generations rollout.n
    micro_batch_size: per_device_train_batch_size per_gpu_train_batch_size micro_batch_size
    micro_batch_size: train_micro_batch_size_per_gpu device_train_microbatch_size
    micro_batch_size: batch_size_per_gpu per_gpu_batch_size batch_size_per_device samples_per_gpu
    micro_batch_size: per_device_batch_size local_batch_size device_batch_size microbatch_size
    micro_batch_size: actor.ppo_micro_batch_size_per_gpu
    grad_accum_steps: gradient_accumulation_steps grad_accum_steps grad_accum accumulation_steps
    grad_accum_steps: accumulate_grad_batches gradient_accumulation grad_accumulation_steps
    grad_accum_steps: accum_freq accum_grad accum_iter update_freq accumulative_counts
    grad_accum_steps: accum accum_steps grad_acc
    grad_accum_steps: batch_accumulation_per_replica gradient_accumulation_iters
    global_batch_size: global_batch_size global_train_batch_size effective_batch_size
    global_batch_size: train_global_batch_size ims_per_batch
    n_gpus: n_gpus num_gpus ngpus distributed_world_size
    n_nodes: n_nodes num_nodes nnodes num_machines
    gpus_per_node: gpus_per_node n_gpus_per_node num_gpus_per_node devices trainer.gpus ngpu
    precision: precision mixed_precision amp_dtype
    optimizer: optimizer optim optimizer.name optimizer.type optimizer._target_ optimizer_name
    optimizer: optimizer._component_ opt
    method: finetuning_type
    lora_rank: lora_rank lora_r network_dim lora_dim
    activation_checkpointing: gradient_checkpointing grad_checkpointing use_gradient_checkpointing
    activation_checkpointing: activation_checkpointing enable_activation_checkpointing
    activation_checkpointing: enable_gradient_checkpointing checkpoint_activations use_checkpoint
    activation_checkpointing: with_checkpoint with_cp recompute_layer recompute_granularity
    activation_checkpointing: activation_checkpoint.mode fsdp_activation_checkpointing
    attention: attn_implementation flash_attn attention
    compile: compile torch_compile torchcompile
    fused_loss: use_liger_kernel use_liger fused_loss liger_fused_linear_cross_entropy
    channels_last: channels_last
    framework_drop_last: drop_last dataloader_drop_last
    sharding: sharding zero_stage zero_optimization.stage sharding_strategy strategy
    sharding: fsdp_sharding_strategy optimizer.zero_stage
    tp: tp tp_size tensor_model_parallel_size tensor_parallel_size tensor_parallel_degree
    tp: tensor_parallel_dim model_parallel_size
    pp: pp pp_size pipeline_model_parallel_size pipeline_parallel_size pipeline_parallel_degree
    pp: pipe_parallel_size
    cp: cp cp_size context_parallel_size context_parallel_degree sequence_parallel_degree
    ep: ep ep_size expert_model_parallel_size expert_parallel_degree
    """
)
"""Option → fact, whatever the framework."""

FRAMEWORK_ALIASES: dict[str, dict[str, str]] = {
    "accelerate": _names("n_gpus: num_processes"),
    "axolotl": _names("method: adapter\nobjective: rl"),
    "detectron2": _names("gpus_per_node: num_gpus"),
    "diffusers": _names("lora_rank: rank"),
    "fairseq": _names("skip: max_tokens"),
    "fairseq2": _names("precision: dtype"),
    "gptneox": _names("tp: model_parallel_size"),
    "litgpt": _names("train_tokens: max_tokens train.max_tokens\nquantization: quantize"),
    "llamafactory": _names("objective: stage"),
    "llmc": _names(
        "micro_batch_size: b\nseq_len: t\nmax_steps: x\nlearning_rate: l\nsharding: z\n"
        "eval_every_steps: v\ncheckpoint_every_steps: n\nmodel: e\ndataset: i"
    ),
    "awsfsdp": _names("checkpoint_every_steps: checkpoint_freq\neval_every_steps: validation_freq"),
    "megatronlm": _names("skip: dataset"),  # the class that reads the data, not their name
    "mmengine": _names("skip: base_batch_size"),
    "nanogpt": _names("precision: dtype\nskip: gradient_accumulation_steps init_from"),
    "nanotron": _names("precision: dtype model.dtype"),
    "nnunet": _names("model: p"),
    "optimumneuron": _names("model: model_path\nskip: model_type"),
    "timm": _names("learning_rate: lr\nimage_size: img_size"),
    "torchtune": _names("precision: dtype"),
    "ultralytics": _names("objective: task\ndataset: data\nskip: optimizer.auto"),
    "verl": _names(
        "objective: algorithm.adv_estimator\nskip: train_batch_size data.train_batch_size"
    ),
}
"""Framework (letters and digits only) → its own meanings; `skip` takes a general one away."""

SWITCHES: dict[str, tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]] = {
    "load_in_4bit": ((("quantization", "nf4"), ("method", "qlora")), ()),
    "load_in_8bit": ((("quantization", "int8"), ("method", "lora")), ()),
    "qlora": ((("quantization", "nf4"), ("method", "qlora")), ()),
    "use_peft": ((("method", "lora"),), ()),
    "use_lora": ((("method", "lora"),), ()),
    "use_peft_lora": ((("method", "lora"),), ()),
    "use_4bit_quantization": ((("quantization", "nf4"), ("method", "qlora")), ()),
    "use_8bit_quantization": ((("quantization", "int8"), ("method", "lora")), ()),
    "use_bf16": ((("precision", "bf16"),), ()),
    "use_fp16": ((("precision", "fp16"),), ()),
    "lora_enable": ((("method", "lora"),), ()),
    "use_flash_attention_2": ((("attention", "flash"),), ()),
    "use_flash_attn": ((("attention", "flash"),), ()),
    "flash_attention": ((("attention", "flash"),), ()),
    "recompute_activations": ((("activation_checkpointing", "selective"),), ()),
    "disable_gradient_checkpointing": (
        (("activation_checkpointing", "none"),),
        (("activation_checkpointing", "full"),),
    ),
    "use_distributed_optimizer": ((("sharding", "zero1"),), ()),
    "fsdp_offload_params": ((("offload", "parameters"),), ()),
    "untie_embeddings_and_output_weights": (
        (("tied_embeddings", "false"),),
        (("tied_embeddings", "true"),),
    ),
}
"""Option → facts when it is on, facts when it is off."""

ELSEWHERE = _words(
    """
    eval evaluation val valid validation test inference generation sampling rollout ref critic
    reward reward_model teacher scheduler lr_scheduler warmup logging logger callbacks run
    """
)
"""Sections whose keys do not speak about the training itself."""

WHOLE_BATCH = _words(
    """
    composer llmfoundry olmo levanter detectron2 ultralytics determined espnet bigvision uvit
    lightninghydratemplate deepspeed
    """
)
"""Frameworks whose bare batch size counts all devices together."""

DEVICE_BATCH = _words(
    """
    transformers trl axolotl llamafactory torchtune torchtitan timm openclip diffusers kohya
    mmengine mmdet nemo lerobot lightning nanogpt fairseq swin yacs unsloth mae optimumneuron
    awsfsdp
    """
)
"""Frameworks whose bare batch size counts one device."""

BARE_BATCH = ("batch_size", "train_batch_size", "batch", "bs")
"""Names of a batch size that do not say of which batch."""
