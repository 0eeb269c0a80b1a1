"""Models that leave the house: ONNX graphs, a model card, and the folder layout of a hub."""

from unbraid.export.exportable import Exportable
from unbraid.export.graphs import Graphs

__all__ = ["Exportable", "Graphs"]
