"""The table of tools, one entry each."""

from compute_budget_planner.tool_spec import ToolSpec

_RUN_ARGUMENTS = ("files", "facts", "run", "measured_runs", "from_budget")

_RUN_DETAILS = """
All arguments are optional:
- files: list of paths inside the project (job scripts, configs, model configs, logs, plans);
  default: the known places of the project are searched.
- facts: object of fact names and values; a fact given here wins over every file, null withdraws
  a file's value. Common names: model, params_total, seq_len, dataset_examples, epochs, max_steps,
  train_tokens, micro_batch_size, grad_accum_steps, global_batch_size, gpu, n_gpus, precision,
  method, sharding, activation_checkpointing, seeds, time_limit_hours, step_seconds.
- run: name of one run, as inspect_project lists them; required only when the files hold several.
- measured_runs: list of {files, facts}, earlier runs each in its own configuration; they
  calibrate the estimate.
- from_budget: true starts from the inputs stored in the written budget; default false.
"""

TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec(
        name="inspect_project",
        title="Inspect project",
        essence=(
            "Lists what a project says about its training runs: files with their facts and "
            "sources, the runs they form, boards, time and GPU limits, and what is missing."
        ),
        details="""
files: list of paths inside the project; default: the known places (jobs, configs, experiments,
logs, plans) are searched. Nothing of the project is executed and nothing is written. The names
under `runs` are what the other tools take as `run`; `gaps` lists facts no file gives.
""",
        request="requests:InspectRequest",
        result="results:InspectResult",
        function="planner:inspect_project",
        arguments=("files",),
        example={"files": ["jobs/train.sh"]},
    ),
    ToolSpec(
        name="estimate_run",
        title="Estimate training run",
        essence=(
            "Estimates a training run before it is submitted: GPU-hours, wall-clock, memory "
            "verdict and time-limit fit, each as low / expected / high."
        ),
        details=f"""
Ranges are the 10th, 50th and 90th percentile. GPU-hours are devices times hours for one seed;
the sum over seeds stands beside them. Every fact used is listed with its basis and source, and
`narrow_by` names the one fact that would narrow the range most. With too little to stand on,
status is `incomplete` and `missing` says what is needed. Nothing is written.
{_RUN_DETAILS}""",
        request="requests:RunRequest",
        result="results:EstimateResult",
        function="planner:estimate_run",
        arguments=_RUN_ARGUMENTS,
        example={
            "files": ["jobs/train.sh"],
            "facts": {"gpu": "A100-SXM-80GB", "n_gpus": 8},
        },
    ),
    ToolSpec(
        name="size_smoke",
        title="Size smoke test",
        essence=(
            "Sizes the smallest smoke test that shows a training run works: steps, data share, "
            "minutes, pass criteria and a job ready to submit."
        ),
        details=f"""
Limits: at most 30 minutes with start-up, at most 5 % of the run's GPU-hours, at least 100 steps,
one GPU or the smallest group that holds the run. `bound` names the limit that decided and
`flags` says where one could not be kept. Nothing is written.
{_RUN_DETAILS}""",
        request="requests:RunRequest",
        result="results:SmokeResult",
        function="planner:size_smoke",
        arguments=_RUN_ARGUMENTS,
        example={"files": ["jobs/train.sh"], "run": "train"},
    ),
    ToolSpec(
        name="cost_ablations",
        title="Cost ablation matrix",
        essence=(
            "Costs an ablation matrix: per variant the multiplier, GPU-hours and priority, totals "
            "per priority, the minimum run set, and what is cut under the hours available."
        ),
        details="""
The matrix is that of a design plan and a baseline audit among the files, and of `variants`. A
variant is estimated anew from its changes; one that cannot be read as facts gets a stated
multiplier or a question, never 1x. Nothing is written. All arguments are optional:
- files, facts, measured_runs, from_budget: as for estimate_run. facts also takes
  available_gpu_hours and max_gpus (GPUs in use at once).
- baseline: name of the run the baseline is made from; required only when several could be it.
- runs: names of the main runs counted as required; default: all unfinished ones.
- variants: list of {name, changes: {fact: value}, multiplier, seeds, tuning_trials, priority,
  claims}; priority is required, should-have or optional; a name of the plan replaces its row.
- required_seeds: seeds the claims need; default: the plan's number. Further seeds are should-have.
""",
        request="requests:AblationsRequest",
        result="results:AblationsResult",
        function="planner:cost_ablations",
        arguments=(
            "files",
            "facts",
            "baseline",
            "runs",
            "measured_runs",
            "from_budget",
            "variants",
            "required_seeds",
        ),
        example={
            "variants": [{"name": "half-depth", "changes": {"n_layers": 6}, "seeds": 3}],
            "facts": {"available_gpu_hours": 1200},
        },
    ),
    ToolSpec(
        name="suggest_alternatives",
        title="Suggest cheaper alternatives",
        essence=(
            "Suggests cheaper ways to answer the same question, each estimated anew: what falls "
            "(GPU-hours, wall-clock, cost), signal quality, risk of misleading, what to watch."
        ),
        details=f"""
Free ones change no result, levers hardly any, question ones change the design; only what fits in
memory and saves something is listed. Nothing is written.
{_RUN_DETAILS}""",
        request="requests:RunRequest",
        result="results:AlternativesResult",
        function="planner:suggest_alternatives",
        arguments=_RUN_ARGUMENTS,
        example={"files": ["jobs/train.sh"]},
    ),
    ToolSpec(
        name="plan_grid",
        title="Plan compute-optimal grid",
        essence=(
            "Plans a small grid of parameters against tokens at near-equal compute: costs, "
            "predicted loss, inference cost, which cells to run first."
        ),
        details="""
Three sizes per budget and one cell of a higher budget; true FLOPs, real shapes of the run's family.
Nothing is written. files, facts, run, measured_runs, from_budget as for estimate_run; facts also
take unique_tokens. All arguments are optional:
- budgets_flops, budgets_gpu_hours: lists of budgets; default: what the run costs.
- around: optimum or model; cells_per_budget; higher_budget_factor (1: no such cell).
- relative_cells: list of {params, tokens} in units unit_params and unit_tokens; k of C = k*N*D.
- law: a law of the guide, or none: no predictions, for other data or modalities.
- generator_tokens: different tokens a generator of synthetic data can produce.
- scenarios: list of {name, read_tokens, written_tokens, lambda_per_gpu_hour, mu_per_gpu_hour};
  J = loss + lambda * training + mu * inference GPU-hours.
- test_time_samples: list of answers or search steps per query.
- measured_losses: list of {params, tokens, loss, seed}; they are fitted.
""",
        request="grid_request:GridRequest",
        result="results.grid:GridResult",
        function="planner.grid.gridding:plan_grid",
        arguments=(
            *_RUN_ARGUMENTS,
            "budgets_flops",
            "budgets_gpu_hours",
            "around",
            "cells_per_budget",
            "higher_budget_factor",
            "relative_cells",
            "unit_params",
            "unit_tokens",
            "k",
            "law",
            "generator_tokens",
            "scenarios",
            "test_time_samples",
            "measured_losses",
        ),
        example={
            "facts": {"seq_len": 2048, "gpu": "H100-SXM-80GB", "n_gpus": 8},
            "budgets_flops": [1e20],
        },
        pictured=True,
    ),
    ToolSpec(
        name="diagnose_run",
        title="Diagnose run from its curves",
        essence=(
            "Reads loss curves: capacity-limited, overfitting, under-training, converged, unstable "
            "or not yet readable, with evidence and the next experiment."
        ),
        details="""
Slopes are robust and noise-aware, thresholds those of references/run-diagnosis.md. Several runs
are also compared at equal compute. Nothing is written. All arguments are optional:
- files: logs of any known format and their configs; a folder of logs is a run. Default: the known
  places are searched.
- facts: facts of all the runs, such as unique_tokens, dataset_examples, max_steps.
- compared_runs: list of {name, files, facts}, several runs with their own facts.
- target_loss: a validation loss that would be good, to tell converged from capacity-limited.
- validation_split: random, time, groups or fixed; data_depends_on: list out of time, groups. A
  random split of such data is named as a reason to doubt.
""",
        request="diagnosis_request:DiagnoseRequest",
        result="results.diagnosis:DiagnosisResult",
        function="planner.curves.diagnosing:diagnose_run",
        arguments=(
            "files",
            "facts",
            "compared_runs",
            "target_loss",
            "validation_split",
            "data_depends_on",
        ),
        example={"files": ["logs/train.log"], "facts": {"unique_tokens": 2_000_000_000}},
        pictured=True,
    ),
    ToolSpec(
        name="check_fairness",
        title="Check fairness of comparison",
        essence=(
            "Lists which rules of a fair comparison a plan, baseline audit or set of configs "
            "breaks, with the numbers and how to mend them."
        ),
        details="""
Fixed steps taken for fixed compute, epochs for data, unequal tuning, one learning rate for all
sizes, different data, metric or checkpoint rule, random splits, unequal seeds. Nothing is written.
All arguments are optional:
- files: design plan, baseline audit, configs, jobs; default: the known places are searched.
- facts: facts all sides share; baseline: name of the run a matrix changes, of several.
- compared_runs: list of {name, files, facts, role, trials, validation_data, metric,
  checkpoint_rule}; role is method, baseline or cell; trials are tuning trials, 0 for defaults.
- validation_split: random, time, groups or fixed; data_depends_on: list out of time, groups.
""",
        request="diagnosis_request:FairnessRequest",
        result="results.fairness:FairnessResult",
        function="planner.fairness.judging:check_fairness",
        arguments=(
            "files",
            "facts",
            "baseline",
            "compared_runs",
            "validation_split",
            "data_depends_on",
        ),
        example={
            "compared_runs": [
                {"name": "ours", "role": "method", "trials": 40},
                {"name": "baseline", "role": "baseline", "trials": 0},
            ]
        },
    ),
    ToolSpec(
        name="write_budget",
        title="Write compute budget",
        essence=(
            "Writes or refreshes the project's compute budget page (code/.agent/"
            "compute-budget.md): estimates, smoke tests, jobs, decisions and five final checks."
        ),
        details="""
Text a person wrote on the page stays as it is; the same call twice changes nothing. All
arguments are optional:
- files, facts, measured_runs: as for estimate_run.
- runs: list of names of the main runs; default: all runs found.
- from_budget: true refreshes the written budget from its stored inputs; default false.
- decisions: list of {alternative, decision, reason}; decision is accepted, rejected or open.
- variants, required_seeds, baseline: the ablation matrix as for cost_ablations, and the run its
  baseline is made from; a design plan among the files needs none of them.
- grid: object of plan_grid's own arguments, such as budgets_flops and scenarios, and run where
  there are several; {} for a grid at the run's own cost. Drawn beside the page where possible.
- claims: list of linked claims, such as CLM-001.
- status: draft (default), approved or superseded; a draft may be incomplete.
- dry_run: true returns the diff and writes nothing; default false.
- expected_sha256: hash of the page as last seen; when it has changed since, the call is refused.
""",
        request="requests:WriteBudgetRequest",
        result="results:BudgetResult",
        function="planner:write_budget",
        arguments=(
            "files",
            "facts",
            "runs",
            "measured_runs",
            "from_budget",
            "baseline",
            "variants",
            "required_seeds",
            "grid",
            "decisions",
            "claims",
            "status",
            "dry_run",
            "expected_sha256",
        ),
        example={"files": ["jobs/train.sh"], "dry_run": True},
        read_only=False,
        destructive=True,
    ),
    ToolSpec(
        name="update_memory",
        title="Update memory boards",
        essence=(
            "Brings the project's memory boards up to the written budget: risk, decision and "
            "evidence rows, edited in place with everything else kept byte for byte."
        ),
        details="""
Works from the written budget. A risk row is due when required GPU-hours exceed the available
ones, a run does not fit its time limit or memory; a decision block when the user accepted an
alternative that changes the design; an evidence row for compute the paper will cite. The same call
twice changes nothing. In a git worktree only its own status page is written. All arguments are
optional:
- claims: list of claims that depend on the compute, such as CLM-001.
- boards: list out of risk, decision, evidence, action, handoff, convention; default: the first
  three.
- create_boards: true makes a missing board from the template; default false.
- dry_run: true returns the diffs and writes nothing; default false.
""",
        request="requests:MemoryRequest",
        result="results:MemoryResult",
        function="planner:update_memory",
        arguments=("claims", "boards", "create_boards", "dry_run"),
        example={"claims": ["CLM-001"], "dry_run": True},
        read_only=False,
        destructive=True,
    ),
)


def instructions() -> str:
    """Return what the server says of itself: the essential sentence of every tool."""
    tools = "\n".join(f"- {tool.name}: {tool.essence}" for tool in TOOLS)
    return f"""\
Compute budgets for ML training, before a job is submitted. Works on the files of one project;
runs nothing of it and uses no network.
{tools}
Quantities are low / expected / high. Every result ends with `next`: the call that continues
from there, or the question for the user."""
