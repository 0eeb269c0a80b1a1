"""Definitions of disentanglement made measurable."""

from unbraid.theory.equivariance import Equivariance, equivariance, is_disentangled, is_equivariant

__all__ = ["Equivariance", "equivariance", "is_disentangled", "is_equivariant"]
