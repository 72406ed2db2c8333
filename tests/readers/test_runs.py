from compute_budget_planner.readers.contract import (
    Basis,
    Command,
    Environment,
    Fact,
    FileReference,
    Layer,
    Reading,
)
from compute_budget_planner.readers.runs import assemble_runs

TRAIN = Command(("python", "train.py"), "python", "train.py", True, "j:1")
GPUS = Fact("n_gpus", 4, Basis.CONFIGURED, "jobs/a.sh:2", Layer.CONFIG)
EVAL = Command(("python", "eval.py"), "python", "eval.py", False, "j:1")


def job(path, *refs, commands=(TRAIN,), **more):
    references = tuple(FileReference(p, role, f"{path}:1") for p, role in refs)
    return Reading(path, "slurm", "job", references=references, commands=commands, **more)


def config(path, *refs, facts=("epochs",), fmt="research_config", kind="config", **more):
    found = tuple(Fact(n, 3, Basis.CONFIGURED, f"{path}:1", Layer.CONFIG) for n in facts)
    references = tuple(FileReference(p, role, f"{path}:1") for p, role in refs)
    return Reading(path, fmt, kind, facts=found, references=references, **more)


def log(path, **more):
    return Reading(path, "log_text", "log", **more)


def runs(*readings, **more):
    return assemble_runs({reading.path: reading for reading in readings}, **more)


def test_a_job_follows_its_references_in_order_of_precedence():
    found = runs(
        job("jobs/a.sh", ("ds.json", "deepspeed"), ("conf/a.yaml", "config"), ("t.py", "script")),
        config("conf/a.yaml", ("base.yaml", "base"), ("../models/m/config.json", "model_config")),
        config("conf/base.yaml"),
        config("models/m/config.json", kind="model_config"),
        config("ds.json", fmt="deepspeed"),
        config("conf/other.yaml"),
    )
    assert [(r.name, r.paths, r.unresolved) for r in found] == [
        (
            "a",
            ("jobs/a.sh", "conf/a.yaml", "conf/base.yaml", "ds.json", "models/m/config.json"),
            (),
        )
    ]
    assert [reading.path for reading in found[0].readings] == list(found[0].paths)


def test_references_are_found_beside_the_file_above_it_and_in_the_code_folder():
    found = runs(
        job("exp/jobs/a.sh", ("b.yaml", "config"), ("c.yaml", "config"), ("d.yaml", "config")),
        config("exp/jobs/b.yaml"),
        config("exp/c.yaml"),
        config("code/d.yaml"),
    )
    assert found[0].paths == ("exp/jobs/a.sh", "exp/jobs/b.yaml", "exp/c.yaml", "code/d.yaml")


def test_missing_and_outside_files_stay_unresolved():
    refs = [("../../x.yaml", "config"), ("/etc/a.yaml", "config"), ("$D/b.yaml", "config")]
    found = runs(job("jobs/a.sh", *refs, ("gone.json", "deepspeed")), config("x.yaml"))
    assert [r.path for r in found[0].unresolved] == [
        "../../x.yaml",
        "/etc/a.yaml",
        "$D/b.yaml",
        "gone.json",
    ]


def test_a_called_script_is_part_of_its_caller():
    found = runs(
        job("jobs/a.sh", ("inner.sh", "script"), commands=(), facts=(GPUS,)),
        job("jobs/inner.sh", ("c.yaml", "config")),
        config("jobs/c.yaml"),
    )
    assert [r.paths for r in found] == [("jobs/a.sh", "jobs/inner.sh", "jobs/c.yaml")]


def test_circles_of_references_end():
    found = runs(
        job("a.sh", ("a.yaml", "config")),
        config("a.yaml", ("b.yaml", "base")),
        config("b.yaml", ("a.yaml", "base")),
    )
    assert found[0].paths == ("a.sh", "a.yaml", "b.yaml")


def test_jobs_that_only_evaluate_or_set_up_are_no_runs():
    found = runs(
        job("jobs/eval.sh", commands=(EVAL,), facts=(GPUS,)),
        job("jobs/setup.sh", ("install.sh", "script"), commands=()),
        job("jobs/hidden.sh", commands=(), facts=(GPUS,)),
        job("jobs/train.sh"),
    )
    assert [r.name for r in found] == ["hidden", "train"]


def test_without_jobs_every_config_with_a_size_is_a_run():
    found = runs(
        config("conf/a.yaml"),
        config("conf/b.yaml", facts=("micro_batch_size",)),
        config("conf/paths.yaml", facts=("dataset",)),
        config("ds.json", fmt="deepspeed"),
        config("m/config.json", kind="model_config"),
    )
    assert [(r.name, r.paths) for r in found] == [("a", ("conf/a.yaml",)), ("b", ("conf/b.yaml",))]


def test_names_are_job_names_and_paths_where_those_repeat():
    found = runs(
        job("jobs/a.sh", job_name="base"),
        job("jobs/b.sh", job_name="base"),
        job("jobs/c.sh", job_name="other"),
    )
    assert [r.name for r in found] == ["jobs/a.sh", "jobs/b.sh", "other"]


def test_logs_go_to_the_run_whose_name_or_folder_holds_them():
    found = runs(
        job("jobs/a.sh", ("outputs/logs/a", "log_dir"), job_name="a", output_dir="outputs/a"),
        job("jobs/b.sh", job_name="b", output_dir="outputs/b"),
        log("outputs/logs/a/slurm-1.out"),
        log("code/outputs/b/trainer_state.json"),
        log("logs/x.log", job_name="b"),
        log("elsewhere/y.log"),
    )
    assert [(r.name, r.prior_logs) for r in found] == [
        ("a", ("outputs/logs/a/slurm-1.out",)),
        ("b", ("code/outputs/b/trainer_state.json", "logs/x.log")),
    ]


def test_a_log_that_two_runs_claim_alike_goes_to_none():
    found = runs(
        job("jobs/a.sh", ("logs", "log_dir"), job_name="a"),
        job("jobs/b.sh", ("logs", "log_dir"), job_name="b"),
        log("logs/slurm-1.out"),
        log("logs/b-20260101.log"),
    )
    assert [(r.name, r.prior_logs) for r in found] == [("a", ()), ("b", ("logs/b-20260101.log",))]


def test_the_environment_a_job_names_belongs_to_its_run():
    known = Environment("ibex", "slurm", 24.0, 72.0, 8, (), "e.yaml:1")
    found = runs(
        job("jobs/a.sh", environment="ibex"),
        Reading("e.yaml", "environments", "environments", environments=(known,)),
    )
    assert found[0].paths == ("jobs/a.sh", "e.yaml")


def test_the_order_of_readings_does_not_matter():
    readings = [job("jobs/b.sh"), job("jobs/a.sh", ("c.yaml", "config")), config("c.yaml")]
    assert runs(*readings) == runs(*readings[::-1])
