from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.quoted_log import READER
from file_facts import problem_texts, reading_of, values

STEP = "step: {}  loss:  3.4370  memory: 68.57GiB(86.69%)  tps: {}  mfu: 39.73%\n"


def page(*blocks: str) -> str:
    return "# Numbers\n\n" + "\n".join(f"Some text.\n\n```bash\n{b}```\n" for b in blocks)


def test_a_log_quoted_in_a_page_is_a_hint_and_no_measurement():
    reading = reading_of(READER, "README.md", page(STEP.format(1990, "6,785") * 3))
    assert values(reading.measured) == {"steps_done": 1990}
    assert reading.finished is None
    (problem,) = problem_texts(reading)
    assert problem.startswith("README.md:6: a log quoted in a page is a hint")
    assert "tokens_per_second_per_gpu 6785" in problem


def test_of_several_quoted_runs_only_what_they_agree_on_is_kept():
    two = page(STEP.format(1990, "6,785"), STEP.format(1990, "7,865"))
    reading = reading_of(READER, "README.md", two)
    assert values(reading.measured) == {"steps_done": 1990}
    assert "2 runs are quoted" in problem_texts(reading)[0]
    other = page(STEP.format(1990, "6,785"), STEP.format(500, "7,865"))
    assert values(reading_of(READER, "README.md", other).measured) == {}


def test_prose_and_tables_of_times_are_no_log():
    text = "| GPUs | Throughput |\n|---|---|\n| 16 | 661ms |\n\nstep: 10 ran at tps: high\n"
    assert not READER.matches(SourceFile("notes.md", text))
    assert not READER.matches(SourceFile("notes.md", page("python train.py --tps: 3\n")))
