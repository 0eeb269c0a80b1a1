"""Export of models: ONNX graphs, a model card, and the folder layout of a model hub."""

from unbraid.export.exportable import Exportable
from unbraid.export.graphs import Graphs

__all__ = ["Exportable", "Graphs"]
