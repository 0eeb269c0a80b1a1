"""Definitions of disentanglement made measurable, and the theorem that no look at the codes alone can find it."""

from unbraid.theory.entangle import Entangle, entangle
from unbraid.theory.equivariance import Equivariance, equivariance, is_disentangled, is_equivariant
from unbraid.theory.mixing import mixing_matrix

__all__ = [
    "Entangle",
    "Equivariance",
    "entangle",
    "equivariance",
    "is_disentangled",
    "is_equivariant",
    "mixing_matrix",
]
