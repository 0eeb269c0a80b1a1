"""NICE, RealNVP, GIN and self-supervised GIN."""

from unbraid.flows.estimators import GIN, NICE, RealNVP
from unbraid.flows.selfsupervised import SelfSupervisedGIN

__all__ = ["GIN", "NICE", "RealNVP", "SelfSupervisedGIN"]
