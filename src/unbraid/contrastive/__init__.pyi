# Written by scripts/stubs.py.
__all__: list[str]
from unbraid.contrastive.estimator import Contrastive as Contrastive
