"""Recordings over time as rows: windows of a few frames, so that every method can see the dynamics."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from unbraid.data.observations import Observations
from unbraid.data.rows import Rows
from unbraid.estimator.parameters import COUNT, Parameters


class DelayEmbedding(Parameters, TransformerMixin, BaseEstimator):
    r"""Delay coordinates: row t is :math:`(x_t, x_{t-\ell}, \dots, x_{t-(w-1)\ell})`, for each recording by itself.

    What one frame does not show (the direction of a motion, a hidden state), a window of frames may. No window reaches
    from one recording into the next.

    Parameters
    ----------
    window : int
        Frames of a row.
    lag : int
        Steps between two frames of a row.

    Attributes
    ----------
    frame_shape_ : tuple of int
        Of one frame.
    n_features_in_ : int

    References
    ----------
    Takens (1981), Detecting strange attractors in turbulence.

    Examples
    --------
    >>> DelayEmbedding(window=2, lag=1).fit_transform([np.array([[0.0], [1.0], [2.0]]), np.array([[5.0], [6.0]])])
    array([[1., 0.],
           [2., 1.],
           [6., 5.]])
    """

    _parameter_constraints = {"window": COUNT, "lag": COUNT}
    frame_shape_: tuple[int, ...]

    def __init__(self, window: int = 2, lag: int = 1):
        self.window = window
        self.lag = lag

    def fit(self, X: Any, y: Any = None) -> Self:
        """Note the shape of a frame.

        Parameters
        ----------
        X : array (time, ...) or list of such arrays
            One recording, or several of any lengths.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        self.frame_shape_ = _recordings(X)[0].shape[1:]
        self.n_features_in_ = int(np.prod(self.frame_shape_))
        return self

    def transform(self, X: Any) -> NDArray:
        """Windows (rows, window * features) of all recordings, one recording after the other."""
        return np.concatenate([self._embedded(x) for x in self._checked(X)])

    def places(self, X: Any) -> NDArray[np.intp]:
        """(recording, time) of each row of ``transform(X)``; the time is that of its latest frame."""
        reach, found = (self.window - 1) * self.lag, self._checked(X)
        parts = [np.column_stack([np.full(len(x) - reach, i), np.arange(reach, len(x))]) for i, x in enumerate(found)]
        return np.concatenate(parts)

    def windows(self, known: Observations) -> Observations:
        """The windows of one recording with what is known about their latest frames."""
        rows = (self.window - 1) * self.lag + np.arange(len(self.transform(known.X)))
        return replace(known.subset(rows), X=self.transform(known.X))

    def _checked(self, X: Any) -> list[NDArray]:
        recordings = _recordings(X)
        reach = (self.window - 1) * self.lag
        for i, x in enumerate(recordings):
            if x.shape[1:] != self.frame_shape_:
                raise ValueError(
                    f"recording {i} has frames of shape {x.shape[1:]}, and those that were fitted {self.frame_shape_}."
                )
            if len(x) <= reach:
                raise ValueError(
                    f"recording {i} has {len(x)} frames, and a window of {self.window} at lag {self.lag} needs "
                    f"{reach + 1}. Leave it out, or take a smaller window or lag."
                )
        return recordings

    def _embedded(self, x: NDArray) -> NDArray:
        reach = (self.window - 1) * self.lag
        frames = x.reshape(len(x), -1)
        parts = [frames[reach - k * self.lag : len(x) - k * self.lag] for k in range(self.window)]
        return np.concatenate(parts, axis=1)


def _recordings(X: Any) -> list[NDArray]:
    """Checked float arrays (time, ...), in the one unit that all inputs have."""
    several = isinstance(X, list | tuple) and len(X) > 0 and all(np.ndim(part) >= 2 for part in X)
    return [Rows(part).array() for part in (X if several else [X])]
