"""Studies: thousands of models from one TOML file; their codes are stored, so every score can be recomputed.

``unbraid study run SPEC.toml --store FOLDER`` runs one; :func:`open` reads its results as frames. The names load on
first use: reading the status of a study does not import scikit-learn.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from unbraid.runtime.extras import require

for _package in ("pydantic", "sqlalchemy", "pandas", "distributed"):
    if find_spec(_package) is None:
        require(_package, "study")

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
__all__ = ["analysis", "open", *(name for name in _MODULE_OF if name != "open_study")]


def __getattr__(name: str) -> Any:
    if name == "analysis":
        return import_module("unbraid.study.analysis")
    asked = "open_study" if name == "open" else name
    if asked not in _MODULE_OF:
        raise AttributeError(f"unbraid.study has no {name!r}. Available: {', '.join(sorted(__all__))}")
    return getattr(import_module(f"unbraid.study.{_MODULE_OF[asked]}"), asked)


def __dir__() -> list[str]:
    return sorted(__all__)
