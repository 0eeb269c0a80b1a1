"""What every estimator here is: scikit-learn's contract, one way in, one way to save, and a summary for pages."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unbraid.data.observations import Observations, data_of, observe
from unbraid.data.rows import Rows
from unbraid.estimator.parameters import Parameters
from unbraid.estimator.summary import Summary
from unbraid.methods import EVIDENCE, method_of_class, methods_using, uses_of
from unbraid.saving.persistence import Persistent


class Estimator(Parameters, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, Persistent):
    """Base of every estimator.

    ``fit`` reads its data by ``_read``, ``transform`` by ``_read_new``; both take what
    :class:`~unbraid.data.rows.Rows` takes, by the one rule for units that is written there.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : array of str
        Of a frame whose columns have names.
    row_shape_ : tuple of int
        Shape of one row as it was given.
    unit_ : float
        What stored values are divided by; 255 for uint8 pictures.
    is_picture_ : bool
        Whether the rows were bytes or bools of two or three axes: codes are then decoded to [0, 1].
    evidence_ : dict of str to str
        What the fit used besides X, by its name, with shape, type and checksum; a run that goes on must have the same.
    """

    unit_interval: ClassVar[bool] = False  # whether float images, too, must lie in [0, 1]
    row_shape_: tuple[int, ...]
    unit_: float
    is_picture_: bool
    evidence_: dict[str, str]

    def summary(self) -> Summary:
        """What there is to say and to show about this fitted model; pages and terminals print it."""
        check_is_fitted(self)
        return self._summary()

    def _summary(self) -> Summary:
        raise NotImplementedError

    @property
    def uses(self) -> tuple[str, ...]:
        """What ``fit`` uses besides X, with these parameters: of labels, pairs, time, sets and covariates."""
        return uses_of(type(self))

    def _observed(self, X: Any, labels: Any = None, **evidence: Any) -> Observations:
        """X and what ``fit`` was told about its rows, as one; what is given twice or not used is refused."""
        observed = observe(X, labels=labels, **evidence)
        for name in set(observed.evidence) - set(uses_of(type(self))):
            users = ", ".join(methods_using(name)) or "none"
            raise ValueError(f"{type(self).__name__} does not use {name}. Methods that do: {users}.")
        method = method_of_class(type(self))
        needs = set(method.needs if method else ()) - {"labels"}  # GIN says itself why it needs y
        for name in needs & set(EVIDENCE):
            if name not in observed.evidence:
                raise ValueError(f"{type(self).__name__} needs {name}: fit(X, {name}=...).")
        self.evidence_ = observed.marks()
        return observed

    def _read(self, X: Any, *, fewest: int = 2) -> Rows:
        """Data to fit, once the parameters are checked: their shape, names and unit are kept."""
        self._check_parameters()
        X = self._observed(X).X
        rows = Rows(X, fewest=fewest)
        rows.in_unit_interval = self.unit_interval and len(rows.row_shape) > 1
        self._note_names(X, rows, reset=True)
        self.n_features_in_ = rows.n_features
        self.row_shape_ = rows.row_shape
        self.unit_ = rows.unit
        self.is_picture_ = rows.is_picture
        return rows

    def _read_new(self, X: Any) -> Rows:
        """New data, in the shape and the unit of those that were fitted, with their columns in the same order."""
        X = data_of(X)
        rows = Rows(X)
        self._note_names(X, rows, reset=False)
        if rows.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {rows.n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        if rows.row_shape != tuple(self.row_shape_):
            raise ValueError(
                f"X has rows of shape {rows.row_shape}, but {type(self).__name__} was fitted on rows of shape "
                f"{tuple(self.row_shape_)}. Reshape X."
            )
        rows.read_as(unit=self.unit_, is_picture=self.is_picture_, unit_interval=self.unit_interval)
        return rows

    def _note_names(self, X: Any, rows: Rows, *, reset: bool) -> None:
        """Feature names by scikit-learn's rules: kept in ``fit``, compared afterwards."""
        if len(rows.row_shape) == 1 and (hasattr(X, "shape") or rows.names is not None):
            validate_data(self, X, reset=reset, skip_check_array=True)

    def _decoded(self, rows: NDArray) -> NDArray:
        """Decoded rows (n, n_features) in the shape that was given; pictures within [0, 1]."""
        rows = np.asarray(rows).reshape(-1, *self.row_shape_)
        return np.clip(rows, 0, 1, out=rows) if self.is_picture_ else rows

    def _check_codes(self, codes: Any, width: int) -> NDArray:
        """Codes (n, width), finite, as floats."""
        values = np.asarray(codes)
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
        if values.ndim != 2 or values.shape[1] != width:
            raise ValueError(f"codes have shape {values.shape}; they must be (n, {width}).")
        if not np.isfinite(values).all():
            raise ValueError("codes contain NaN or infinity.")
        return values
