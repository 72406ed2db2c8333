"""`data-pipeline-plan.md`: the training examples of its split protocol."""

import re

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import (
    Basis,
    Layer,
    Problem,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.direct_facts import DirectValue, direct_facts
from compute_budget_planner.readers.plan_markdown import PlanRow, PlanTable, read_sections

_COUNT = re.compile(r"(?P<about>[~≈]\s*)?(?P<count>\d[\d,_ ]*(?:\.\d+)?\s*[kKmMbB]?)(?![\w.])")
_TRAIN = {"train", "training", "train set", "training set"}


class DataPlanReader:
    """A plan of the data pipeline with a split protocol."""

    format = "data_plan"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a Markdown file has the section `Split Protocol`."""
        return file.name.lower().endswith(".md") and bool(
            re.search(r"(?mi)^#+\s*(?:\d+\.\s*)?Split Protocol\s*$", file.text)
        )

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the number of training examples.

        Raises:
            FormatError: never; what is missing is a problem of the reading.
        """
        values: list[DirectValue] = []
        problems: list[Problem] = []
        for section in read_sections(file.text):
            if section.title != "split protocol":
                continue
            row = next((r for table in section.tables for r in _train_rows(table)), None)
            if row is None:
                text = "`Split Protocol` has no row `train` with `N examples`"
                problems.append(Problem(file.at(section.line), text))
                continue
            match = _COUNT.match(row.cells["n examples"])
            if match is None:
                shown = row.cells["n examples"][:40]
                text = f"`N examples` of `train` is {shown!r}; write a whole number"
                problems.append(Problem(file.at(row.line), text))
                continue
            if match["about"]:
                problems.append(Problem(file.at(row.line), "`N examples` is approximate"))
            values.append(("dataset_examples", _bare(match["count"]), file.at(row.line)))
        facts, more = direct_facts(values[:1], Basis.CONFIGURED, Layer.CONFIG, reference)
        return Reading(
            path=file.path,
            format=self.format,
            kind="data",
            facts=facts,
            problems=(*problems, *more),
        )


def _train_rows(table: PlanTable) -> list[PlanRow]:
    return [
        row
        for row in table.rows
        if row.cells.get("split", "").lower() in _TRAIN and row.cells.get("n examples")
    ]


def _bare(count: str) -> str:
    return re.sub(r"[ ,_]", "", count)


READER = DataPlanReader()
