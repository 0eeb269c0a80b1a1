"""GEOMANCER: the submanifolds whose product the data's manifold is."""

from unbraid.geometry.charts import Chart, analogy, charts
from unbraid.geometry.estimator import Geomancer
from unbraid.geometry.reading import Reading, read_spectrum

__all__ = ["Chart", "Geomancer", "Reading", "analogy", "charts", "read_spectrum"]
