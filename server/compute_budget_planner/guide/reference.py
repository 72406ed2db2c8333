"""The whole reference: every table of every page, typed and indexed.

Pages are read once. Rows of later pages (a lab's own) replace rows of the same key.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from compute_budget_planner.errors import GuideError, nearest
from compute_budget_planner.guide.rows import (
    Accelerator,
    CatalogueModel,
    FrameworkClass,
    Generation,
    KnownDataset,
    Optimizer,
    Precision,
    Quantity,
)
from compute_budget_planner.guide.tables import Row, read_tables

_ACCELERATOR_TABLES = (
    "accelerator_names",
    "accelerator_compute",
    "accelerator_memory",
    "accelerator_price",
)
_CATALOGUE_TABLES = ("language_models", "encoder_models", "vision_models", "diffusion_models")
_DATASET_TABLES = (
    *("image_datasets", "image_text_datasets", "pretraining_text_datasets"),
    *("task_text_datasets", "instruction_datasets", "sound_datasets"),
)
_ADAPTER_PREFIX = re.compile(r"^(?:q?lora|dora)-")
_VERSION = re.compile(r"(?<=[a-z]\d)-(?=\d-)")
_QUANTITY_COLUMNS = {"name", "low", "expected", "high", "unit"}


def spelling(text: str) -> str:
    """Return the form in which names are compared: lower case, `-`, `_`, `/` and blanks alike."""
    return "-".join(text.lower().replace("_", " ").replace("-", " ").replace("/", " ").split())


@dataclass(frozen=True, eq=False)
class Reference:
    """Typed access to the rows of all pages: table name → row key → row.

    Two references are equal when they are one: results computed from one may be kept by it.
    """

    tables: Mapping[str, Mapping[str, Row]]

    def rows(self, table: str) -> Mapping[str, Row]:
        """Return the rows of a table by their first cell.

        Raises:
            GuideError: no page has the table.
        """
        if table not in self.tables:
            raise GuideError(
                f"no reference page has the table `{table}`",
                remedy="Restore it from the shipped references.",
            )
        return self.tables[table]

    def row(self, table: str, key: str) -> Row:
        """Return one row of a table.

        Raises:
            GuideError: the table has no such row.
        """
        rows = self.rows(table)
        if key not in rows:
            raise GuideError(f"table `{table}` has no row `{key}`", remedy=nearest(key, rows))
        return rows[key]

    @cached_property
    def _quantities(self) -> dict[str, Quantity]:
        found: dict[str, Quantity] = {}
        for rows in self.tables.values():
            for row in rows.values():
                if row.cells.keys() >= _QUANTITY_COLUMNS:
                    quantity = Quantity.from_row(row)
                    found[quantity.name] = quantity
        return found

    def quantity(self, name: str) -> Quantity:
        """Return a number of the guide with its spread.

        Raises:
            GuideError: no table of quantities has it.
        """
        if name not in self._quantities:
            raise GuideError(
                f"no reference page gives `{name}`", remedy=nearest(name, self._quantities)
            )
        return self._quantities[name]

    def value(self, name: str) -> float:
        """Return the expected value of a quantity."""
        return self.quantity(name).expected

    @cached_property
    def accelerators(self) -> Mapping[str, Accelerator]:
        """All accelerators by canonical name."""
        names = self.rows("accelerator_names")
        return {
            key: Accelerator.from_rows(*(self.row(table, key) for table in _ACCELERATOR_TABLES))
            for key in names
        }

    @cached_property
    def _accelerators_by_spelling(self) -> dict[str, tuple[Accelerator, ...]]:
        index: dict[str, dict[str, Accelerator]] = {}
        for accelerator in self.accelerators.values():
            for word in (accelerator.name, *accelerator.aliases):
                index.setdefault(spelling(word), {})[accelerator.name] = accelerator
        return {word: tuple(found.values()) for word, found in index.items()}

    def find_accelerators(self, text: str) -> tuple[Accelerator, ...]:
        """Return every accelerator a name may mean: none, one, or several when ambiguous."""
        wanted = spelling(text)
        for prefix in ("", "nvidia-", "amd-", "tesla-", "geforce-", "nvidia-geforce-"):
            word = wanted.removeprefix(prefix) if wanted.startswith(prefix) else ""
            if word in self._accelerators_by_spelling:
                return self._accelerators_by_spelling[word]
        return ()

    @cached_property
    def optimizers(self) -> Mapping[str, Optimizer]:
        """Optimizer state bytes by canonical optimizer name."""
        return {k: Optimizer.from_row(r) for k, r in self.rows("optimizer_bytes").items()}

    @cached_property
    def precisions(self) -> Mapping[str, Precision]:
        """Bytes by precision."""
        return {k: Precision.from_row(r) for k, r in self.rows("precision_bytes").items()}

    @cached_property
    def generations(self) -> Mapping[str, Generation]:
        """Matmul efficiency by accelerator generation."""
        return {k: Generation.from_row(r) for k, r in self.rows("accelerator_generations").items()}

    @cached_property
    def framework_classes(self) -> Mapping[str, FrameworkClass]:
        """Software classes by name."""
        return {k: FrameworkClass.from_row(r) for k, r in self.rows("framework_classes").items()}

    def framework_class_of(self, framework: str) -> FrameworkClass | None:
        """Return the class a framework belongs to, or None when the guide does not know it."""
        wanted = spelling(framework)
        for candidate in self.framework_classes.values():
            if wanted in {spelling(w) for w in (candidate.name, *candidate.frameworks)}:
                return candidate
        return None

    @cached_property
    def choices(self) -> Mapping[str, Mapping[str, str]]:
        """For each enumerated fact: every spelling → its canonical value."""
        found: dict[str, dict[str, str]] = {}
        for row in self.rows("fact_values").values():
            fact, _, value = row.required("value_of").partition("=")
            spellings = found.setdefault(fact.strip(), {})
            for word in (value.strip(), *row.words("aliases")):
                spellings[spelling(word)] = value.strip()
        return found

    @cached_property
    def catalogue(self) -> Mapping[str, CatalogueModel]:
        """Known models by name."""
        found = {}
        for table in _CATALOGUE_TABLES:
            for row in self.rows(table).values():
                model = CatalogueModel.from_row(row)
                found[model.name] = model
        return found

    @cached_property
    def _models_by_spelling(self) -> dict[str, CatalogueModel]:
        index: dict[str, CatalogueModel] = {}
        for model in self.catalogue.values():
            for word in (model.name, *model.aliases):
                index.setdefault(spelling(word), model)
        return index

    def find_model(self, name: str) -> CatalogueModel | None:
        """Return the known model of that name, with or without its organisation.

        torchtune's builders (`qlora_llama3_1_8b`) name adapters too and have `_` for a point.
        """
        last = spelling(name.rsplit("/", maxsplit=1)[-1])
        built = _VERSION.sub(".", _ADAPTER_PREFIX.sub("", last))
        for word in (spelling(name), last, built):
            if word in self._models_by_spelling:
                return self._models_by_spelling[word]
        return None

    def known_model_spellings(self) -> list[str]:
        """Return every spelling of every known model."""
        return list(self._models_by_spelling)

    @cached_property
    def _datasets_by_spelling(self) -> dict[str, KnownDataset]:
        index: dict[str, KnownDataset] = {}
        for table in _DATASET_TABLES:
            for row in self.tables.get(table, {}).values():
                dataset = KnownDataset.from_row(row)
                for word in (dataset.name, *dataset.aliases):
                    index[spelling(word)] = dataset
        return index

    def find_dataset(self, name: str) -> KnownDataset | None:
        """Return the known data set of that name, with or without its organisation."""
        for word in (spelling(name), spelling(name.rsplit("/", maxsplit=1)[-1])):
            if word in self._datasets_by_spelling:
                return self._datasets_by_spelling[word]
        return None


def build_reference(pages: Iterable[tuple[str, str]]) -> Reference:
    """Build the reference from (page name, text) pairs; later rows replace earlier ones.

    Raises:
        GuideError: a table is broken, or one page holds two rows of the same key.
    """
    tables: dict[str, dict[str, Row]] = {}
    for page, text in pages:
        for table in read_tables(page, text):
            rows = tables.setdefault(table.name, {})
            seen: set[str] = set()
            for row in table.rows:
                key = next(iter(row.cells.values()), "")
                if key in seen:
                    raise GuideError(
                        f"two rows have the key `{key}`",
                        where=f"{page}:{row.line}, table `{table.name}`",
                        remedy="Keep one of them.",
                    )
                seen.add(key)
                rows[key] = row
    return Reference(tables)
