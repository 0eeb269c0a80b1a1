"""GEOMANCER: the submanifolds whose product the data's manifold is."""

from unbraid.geometry.estimator import Geomancer
from unbraid.geometry.reading import GeometryWarning, Reading, read_spectrum

__all__ = ["Geomancer", "GeometryWarning", "Reading", "read_spectrum"]
