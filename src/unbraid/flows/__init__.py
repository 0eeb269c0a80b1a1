"""NICE, RealNVP, GIN and self-supervised GIN."""

from unbraid.flows.estimators import GIN, NICE, RealNVP

__all__ = ["GIN", "NICE", "RealNVP"]
