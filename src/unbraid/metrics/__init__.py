"""Scores of disentanglement: arrays in, number out."""

from unbraid.metrics.mcc import match, mcc

__all__ = ["match", "mcc"]
