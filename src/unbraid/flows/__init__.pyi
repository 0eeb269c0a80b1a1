# Written by scripts/stubs.py.
__all__: list[str]
from unbraid.flows.estimators import GIN as GIN
from unbraid.flows.estimators import NICE as NICE
from unbraid.flows.estimators import RealNVP as RealNVP
from unbraid.flows.selfsupervised import SelfSupervisedGIN as SelfSupervisedGIN
