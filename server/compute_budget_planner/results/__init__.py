"""What the tools give back.

Numbers are rounded once, in these models, so that prose, tables and JSON agree. Quantities with
uncertainty are ranges `low / expected / high` (10th, 50th, 90th percentile).
"""

from compute_budget_planner.results.ablations import (
    AblationsResult,
    CutOut,
    MainRunOut,
    PriorityName,
    PriorityTotalOut,
    VariantOut,
)
from compute_budget_planner.results.alternatives import AlternativeOut, AlternativesResult
from compute_budget_planner.results.base import FactOut, NextStep, ProblemOut, RangeOut
from compute_budget_planner.results.budget import BudgetResult, CheckOut
from compute_budget_planner.results.estimate import (
    AssumptionOut,
    CalibrationOut,
    ConflictOut,
    EstimateResult,
    LimitOut,
    MemoryOut,
    MemoryTermOut,
    MfuOut,
    OverheadOut,
    ParametersOut,
    PartOut,
    StepsOut,
)
from compute_budget_planner.results.inspect import EnvironmentOut, FileOut, InspectResult, RunOut
from compute_budget_planner.results.memory import BoardOut, MemoryResult
from compute_budget_planner.results.smoke import JobBlock, SmokeResult

__all__ = [
    "AblationsResult",
    "AlternativeOut",
    "AlternativesResult",
    "AssumptionOut",
    "BoardOut",
    "BudgetResult",
    "CalibrationOut",
    "CheckOut",
    "ConflictOut",
    "CutOut",
    "EnvironmentOut",
    "EstimateResult",
    "FactOut",
    "FileOut",
    "InspectResult",
    "JobBlock",
    "LimitOut",
    "MainRunOut",
    "MemoryOut",
    "MemoryResult",
    "MemoryTermOut",
    "MfuOut",
    "NextStep",
    "OverheadOut",
    "ParametersOut",
    "PartOut",
    "PriorityName",
    "PriorityTotalOut",
    "ProblemOut",
    "RangeOut",
    "RunOut",
    "SmokeResult",
    "StepsOut",
    "VariantOut",
]
