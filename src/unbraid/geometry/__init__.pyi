# Written by scripts/stubs.py.
__all__: list[str]
from unbraid.geometry.charts import Chart as Chart
from unbraid.geometry.estimator import Geomancer as Geomancer
from unbraid.geometry.reading import Reading as Reading
from unbraid.geometry.charts import analogy as analogy
from unbraid.geometry.charts import charts as charts
from unbraid.geometry.reading import read_spectrum as read_spectrum
