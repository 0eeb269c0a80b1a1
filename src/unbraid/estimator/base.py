"""What every estimator is: scikit-learn's contract, one way in and out, and the null of its evidence."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unbraid.data.counts import Counts, counts_of
from unbraid.data.observations import Observations, data_of, observe
from unbraid.data.rows import Rows
from unbraid.estimator.parameters import COUNT, Parameters, Whole, check_parameter
from unbraid.estimator.summary import Fact, Summary
from unbraid.methods import COVARIATES, EVIDENCE, method_of_class, methods_using, uses_of
from unbraid.saving.persistence import Persistent
from unbraid.trust.warnings import format_warning, warn


class Estimator(Parameters, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, Persistent):
    """Base of every estimator.

    ``fit`` reads its data by ``_read``, ``transform`` by ``_read_new``; both take what
    :class:`~unbraid.data.rows.Rows` takes, by the one rule for units that is written there.

    A class whose ``fit`` uses evidence, by the table of methods or by the keywords of ``fit``, has the parameter
    ``null`` without a line of its own, and its ``fit`` ends with the null of the evidence.

    Parameters
    ----------
    null : "auto", "off" or int
        Of methods that use evidence: whether ``fit`` ends with short refits to shuffled evidence, which show what the
        method would say of nothing (:mod:`unbraid.nulls.null`), and how many of them. "auto" makes 19 where that is
        affordable: trained methods where all of them take no more steps than the fit did and 100 or more each, others
        where rows have at most 1,000 features. Codes are the same either way.

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
    counts_ : Counts or None
        Of methods with the parameter ``counts``: the scale in which they see counts, if X holds counts.
    filling_ : Filling or None
        What fills missing values, here and in new rows, where the fit saw filled ones.
    evidence_ : dict of str to str
        What the fit used besides X, by its name, with shape, type and checksum; a resumed run must have the same.
    null_ : NullTest or None
        Of methods that use evidence: ``score``, ``nulls`` and ``p``; None where it was not run.
    """

    unit_interval: ClassVar[bool] = False  # whether float images, too, must lie in [0, 1]
    takes_gaps: ClassVar[bool] = False  # whether values may be missing: NaN, or masked
    row_shape_: tuple[int, ...]
    unit_: float
    is_picture_: bool
    counts_: Counts | None = None
    filling_: Any = None
    evidence_: dict[str, str]
    null: Any
    null_: Any
    _why_no_null: str

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if not hasattr(cls, "fit") or not set(uses_of(cls)) - {COVARIATES}:
            return
        if "null" not in inspect.signature(cls.__init__).parameters:
            cls.__init__ = _with_null_parameter(cls.__init__)  # type: ignore[method-assign]
            cls._parameter_constraints = {**cls._parameter_constraints, "null": (Whole(1), "auto", "off")}
        if not hasattr(cls.fit, "ends_with_null"):
            cls.fit = _with_null(cls.fit)

    def summary(self) -> Summary:
        """What a report or a terminal shows about this fitted model."""
        check_is_fitted(self)
        found, evidence = self._with_null_line(self._summary()), getattr(self, "evidence_", {})
        if not evidence:
            return found
        marks = "; ".join(f"{name} {mark}" for name, mark in evidence.items())
        more = Fact("evidence", ", ".join(evidence), f"What the fit used besides X (shape, type, checksum): {marks}.")
        return replace(found, facts=[*found.facts, more])

    def _summary(self) -> Summary:
        raise NotImplementedError

    def _with_null_line(self, found: Summary) -> Summary:
        null, why = getattr(self, "null_", None), getattr(self, "_why_no_null", "")
        if null is None:
            more = f"It was not run: {why}. model.null_test(X, ...) runs it."
            return replace(found, facts=[*found.facts, Fact.of("null_p", "not run", more)]) if why else found
        concerns = [] if null.holds else [format_warning("UB251", evidence=null.evidence, null=null)]
        facts = [*found.facts, Fact.of("null_p", str(null))]
        return replace(found, facts=facts, concerns=[*found.concerns, *concerns], checked=True)

    def null_test(
        self, X: Any, y: Any = None, *, pairs: Any = None, time: Any = None, sets: Any = None, covariates: Any = None,
        n_null: int = 19,
    ) -> Any:  # fmt: skip
        """Would this fit have said the same of nothing? Short refits to real and to shuffled evidence.

        Parameters
        ----------
        X : array (n, ...) or Observations
            What was fitted, with its evidence.
        y, pairs, time, sets, covariates : arrays, optional
            As of ``fit``. With ``time``, labels are shuffled by shifting them along it in a circle; with
            ``covariates``, by permuting them among rows of like covariates.
        n_null : int
            Refits with shuffled evidence.

        Returns
        -------
        NullTest
            Also kept as ``null_``.
        """
        from unbraid.nulls.null import null_test

        check_is_fitted(self)
        check_parameter("n_null", n_null, COUNT)
        known = observe(X, labels=y, pairs=pairs, time=time, sets=sets, covariates=covariates)
        self.null_ = null_test(self, known, n_null=n_null, seed=self._null_seed())
        if not self.null_.holds:
            warn("UB251", evidence=self.null_.evidence, null=self.null_)
        return self.null_

    def loadings(self, X: Any, *, confidence: float = 0.95) -> Any:
        """What changes along each code: slopes of the features with intervals, and their course.

        Parameters
        ----------
        X : array, or anything that ``transform`` takes
            Of more than 5,000 rows, 5,000 are drawn.
        confidence : float
            Of the interval of each slope.

        Returns
        -------
        Loadings
            See :func:`unbraid.meaning.loadings`. Features have the names and the unit of the data.
        """
        from unbraid.meaning.loadings import MOST_ROWS, loadings

        shown = self.summary()
        if not shown.n_shown:
            raise ValueError(f"{shown.title} finds no codes, so that nothing changes along them.")
        rows = self._read_new(X)
        rows.scale = None
        seen = np.sort(np.random.default_rng(0).permutation(len(rows))[:MOST_ROWS])
        sample = rows.take(seen, np.random.default_rng(0))
        codes = np.asarray(self.transform(X))[seen]
        names = getattr(self, "feature_names_in_", None)
        return loadings(codes, rows.clean(sample), kinds=shown.kinds, feature_names=names, confidence=confidence)

    def _run_null(self, X: Any, y: Any, evidence: Mapping[str, Any]) -> None:
        """The null at the end of ``fit``, if there is evidence and time for it. Ctrl-C skips it, and the fit stays."""
        if set(self.uses) - {COVARIATES} != {"time"} and not set(self.evidence_) - {COVARIATES}:
            return
        if self.null == "off":
            self._why_no_null = "null='off'"
            return
        from unbraid.nulls.kinds import UntestableError
        from unbraid.nulls.null import N_NULL, auto_steps, null_test

        known = observe(X, **evidence).only(*self.uses)
        if "labels" in self.evidence_ and known.labels is None:
            known = observe(known, labels=y)
        try:
            if self.null == "auto":
                many, steps = N_NULL, auto_steps(self)
            else:
                many, steps = int(self.null), None
            self.null_ = null_test(self, known, n_null=many, n_steps=steps, seed=self._null_seed())
        except KeyboardInterrupt:
            self._why_no_null = "it was interrupted"
        except ValueError as error:
            if self.null != "auto":
                raise
            self._why_no_null = str(error).rstrip(".")
            if isinstance(error, UntestableError):
                warn("UB253", stacklevel=4, evidence=", ".join(known.evidence), why=self._why_no_null)

    def _null_seed(self) -> int:
        """A generator that the user shares is not drawn from."""
        given = getattr(self, "random_state", None)
        return int(given) if isinstance(given, Integral) else 0

    @property
    def uses(self) -> tuple[str, ...]:
        """What ``fit`` uses besides X, with these parameters: of labels, pairs, time, sets and covariates."""
        return uses_of(type(self))

    def _observed(self, X: Any, labels: Any = None, **evidence: Any) -> Observations:
        """X and what ``fit`` was given about its rows, as one; what is given twice or not used is refused."""
        observed = observe(X, labels=labels, **evidence)
        for name in set(observed.evidence) - set(uses_of(type(self))):
            users = ", ".join(methods_using(name)) or "none"
            raise ValueError(f"{type(self).__name__} does not use {name}. Methods that do: {users}.")
        method = method_of_class(type(self))
        needs = set(method.needs if method else ()) - {"labels"}  # GIN has its own message
        for name in needs & set(EVIDENCE):
            if name not in observed.evidence:
                raise ValueError(f"{type(self).__name__} needs {name}: fit(X, {name}=...).")
        self.evidence_ = observed.marks()
        return observed

    def _read(self, X: Any, *, fewest: int = 2) -> Rows:
        """Data to fit, once the parameters are checked: their shape, names and unit are kept."""
        self._check_parameters()
        self.filling_ = None
        X = self._unmasked(self._observed(X).X)
        rows = Rows(X, fewest=fewest, gaps=self.takes_gaps)
        rows.in_unit_interval = self.unit_interval and len(rows.row_shape) > 1
        self.counts_ = rows.scale = self._scale_of(rows)
        self._note_names(X, rows, reset=True)
        self.n_features_in_ = rows.n_features
        self.row_shape_ = rows.row_shape
        self.unit_ = rows.unit
        self.is_picture_ = rows.is_picture
        return rows

    def _scale_of(self, rows: Rows) -> Counts | None:
        """The scale in which counts are seen."""
        return counts_of(rows, getattr(self, "counts", "given"))

    def _read_new(self, X: Any) -> Rows:
        """New data, in the shape and the unit of those that were fitted, with their columns in the same order."""
        X = self._unmasked(data_of(X))
        rows = Rows(X, gaps=self.takes_gaps or self.filling_ is not None)
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
        rows.scale = self.filling_ or self.counts_
        return rows

    def _unmasked(self, X: Any) -> Any:
        """NaN for masked values, where the method takes them; others refuse them with their number."""
        takes = self.takes_gaps or self.filling_ is not None
        masked = takes and isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X)
        return X.astype(np.result_type(X.dtype, np.float32)).filled(np.nan) if masked else X

    def _note_names(self, X: Any, rows: Rows, *, reset: bool) -> None:
        """Feature names by scikit-learn's rules: kept in ``fit``, compared afterwards."""
        if len(rows.row_shape) == 1 and (hasattr(X, "shape") or rows.names is not None):
            validate_data(self, X, reset=reset, skip_check_array=True)

    def _decoded(self, rows: NDArray) -> NDArray:
        """Decoded rows (n, n_features) in the shape that was given; pictures within [0, 1]."""
        rows = np.asarray(rows if self.counts_ is None else self.counts_.inverse(rows)).reshape(-1, *self.row_shape_)
        return np.clip(rows, 0, 1, out=rows) if self.is_picture_ else rows

    def _check_codes(self, codes: Any, width: int) -> NDArray:
        """Codes (n, width), finite, as floats."""
        values = np.asarray(codes)
        if values.dtype.kind not in "fiubO":
            raise ValueError(f"codes have the type {values.dtype}; they must be real numbers.")
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
        if values.ndim != 2 or values.shape[1] != width:
            raise ValueError(f"codes have shape {values.shape}; they must be (n, {width}).")
        if not np.isfinite(values).all():
            raise ValueError("codes contain NaN or infinity.")
        return values


def _with_null_parameter(init: Callable[..., None]) -> Any:
    """``__init__`` with the parameter ``null``."""

    @wraps(init)
    def __init__(self: Any, *given: Any, null: Any = "auto", **settings: Any) -> None:
        init(self, *given, **settings)
        self.null = null

    own = inspect.signature(init)
    null = inspect.Parameter("null", inspect.Parameter.KEYWORD_ONLY, default="auto")
    __init__.__signature__ = own.replace(parameters=[*own.parameters.values(), null])  # type: ignore[attr-defined]
    return __init__


def _with_null(fit: Callable[..., Any]) -> Any:
    """``fit`` that ends with the null of its evidence, once, where it calls the ``fit`` of a parent too."""

    @wraps(fit)
    def fitted(self: Any, X: Any, y: Any = None, **evidence: Any) -> Any:
        if "_fitting" in vars(self):
            return fit(self, X, y, **evidence)
        self._fitting = True
        try:
            fit(self, X, y, **evidence)
        finally:
            del self._fitting
        self.null_, self._why_no_null = None, ""
        self._run_null(X, y, evidence)
        if self.null_ is not None and not self.null_.holds:
            warn("UB251", evidence=self.null_.evidence, null=self.null_)
        return self

    fitted.ends_with_null = True  # type: ignore[attr-defined]
    return fitted
