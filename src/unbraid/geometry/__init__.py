"""GEOMANCER: the submanifolds whose product the data's manifold is."""

from typing import Any

from unbraid.geometry.charts import Chart, analogy, charts
from unbraid.geometry.reading import Reading, read_spectrum
from unbraid.methods import estimators_of

_ESTIMATORS = estimators_of("geometry")

__all__ = [*_ESTIMATORS, "Chart", "Reading", "analogy", "charts", "read_spectrum"]


def __getattr__(name: str) -> Any:
    if name in _ESTIMATORS:
        return _ESTIMATORS[name].load()
    raise AttributeError(f"unbraid.geometry has no {name!r}; it has: {', '.join(sorted(__all__))}")
