"""Studies: thousands of models from one TOML file; their codes are stored, so every score can be recomputed.

``unbraid study run SPEC.toml --store FOLDER`` runs one; :func:`open` reads its results as frames. The names load on
first use: reading the status of a study does not import scikit-learn.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from unbraid.runtime.extras import require

for _package in ("pydantic", "sqlalchemy", "pandas", "distributed"):
    if find_spec(_package) is None:
        require(_package, "study")

if TYPE_CHECKING:
    from unbraid.study import analysis
    from unbraid.study.analysis import study_report
    from unbraid.study.engine import Sitting, run_study
    from unbraid.study.exchange import export, merge
    from unbraid.study.frames import Study
    from unbraid.study.frames import open_study as open
    from unbraid.study.ranking import rank
    from unbraid.study.reading import SpecError, parse_spec, read_spec
    from unbraid.study.rescoring import rescore
    from unbraid.study.schema import StoreError
    from unbraid.study.spec import StudySpec
    from unbraid.study.store import Store
    from unbraid.study.tasks import Task, tasks_of
    from unbraid.study.work import training_rows

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
    "training_rows",
]

_MODULES = {
    "analysis": ("study_report",),
    "engine": ("Sitting", "run_study"),
    "exchange": ("export", "merge"),
    "frames": ("Study", "open_study"),
    "ranking": ("rank",),
    "reading": ("SpecError", "parse_spec", "read_spec"),
    "rescoring": ("rescore",),
    "schema": ("StoreError",),
    "spec": ("StudySpec",),
    "store": ("Store",),
    "tasks": ("Task", "tasks_of"),
    "work": ("training_rows",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "analysis":
        return import_module("unbraid.study.analysis")
    asked = "open_study" if name == "open" else name
    if asked not in _MODULE_OF:
        raise AttributeError(f"unbraid.study has no {name!r}. Available: {', '.join(sorted(__all__))}")
    return getattr(import_module(f"unbraid.study.{_MODULE_OF[asked]}"), asked)


def __dir__() -> list[str]:
    return sorted(__all__)
