"""A trained estimator at work: codes of data, data of codes, and its network rebuilt from arrays."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unbraid.data.rows import Rows
from unbraid.training.estimator import TrainedEstimator


class Coder(TrainedEstimator):
    """What an estimator does with its trained arrays; a subclass defines its network and how it encodes rows."""

    def _rebuilt(self) -> Any:
        """The trained network, from fitted arrays alone (so that saving needs arrays only)."""
        raise NotImplementedError

    def _codes_of(self, rows: Rows) -> np.ndarray:
        """Codes of checked rows."""
        raise NotImplementedError

    @property
    def _network(self) -> Any:
        cached = self.__dict__.get("_cached")
        if cached is None:
            cached = self._cached = self._rebuilt()
        return cached

    def _new_rows(self, X: Any) -> Rows:
        check_is_fitted(self, ("weights_", "theta_"), all_or_any=any)
        return self._read_new(X)

    def transform(self, X: Any) -> np.ndarray:
        """Codes (n, n_codes): of flows, the most important latent first; of variational models, the means.

        They are computed in the precision of X.
        """
        return self._codes_of(self._new_rows(X))

    def _get_state(self) -> dict[str, Any]:
        return {k: v for k, v in super()._get_state().items() if k != "_cached"}

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_cached", None)
        return state
