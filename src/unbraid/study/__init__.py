"""Studies: thousands of models by one TOML file; their codes are kept, so that every score can be computed again.

``unbraid study run SPEC.toml --store FOLDER`` runs one; :func:`open` reads what is there as frames.
"""

from importlib import import_module
from typing import Any

from unbraid.contract.extras import require

for _package in ("pydantic", "sqlalchemy", "pandas", "distributed"):
    require(_package, "study")

from unbraid.study.engine import Sitting, run_study  # noqa: E402
from unbraid.study.exchange import export, merge  # noqa: E402
from unbraid.study.frames import Study, open_study  # noqa: E402
from unbraid.study.rank import rank  # noqa: E402
from unbraid.study.reading import SpecError, parse_spec, read_spec  # noqa: E402
from unbraid.study.rescore import rescore  # noqa: E402
from unbraid.study.spec import StudySpec  # noqa: E402
from unbraid.study.store import Store, StoreError  # noqa: E402
from unbraid.study.tasks import Task, tasks_of  # noqa: E402

__all__ = [
    "Sitting",
    "SpecError",
    "Store",
    "StoreError",
    "Study",
    "StudySpec",
    "Task",
    "analysis",
    "export",
    "merge",
    "open",
    "parse_spec",
    "rank",
    "read_spec",
    "rescore",
    "run_study",
    "study_report",
    "tasks_of",
]

open = open_study


def __getattr__(name: str) -> Any:
    """What a study means loads when it is asked for: workers do without it."""
    if name in ("analysis", "study_report"):
        analysis = import_module("unbraid.study.analysis")
        return analysis if name == "analysis" else analysis.study_report
    raise AttributeError(f"unbraid.study has no {name!r}; it has: {', '.join(sorted(__all__))}")
