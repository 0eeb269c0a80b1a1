"""Multinomial logistic regression, the classifier of four metrics; every setting is in the call.

The objective is scikit-learn's: C times the (weighted) sum of log losses plus half the squared norm of the weights,
the intercepts free. It is minimised by L-BFGS in whitened coordinates from the linear discriminant, which is close
to the optimum and saves most iterations.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize


@dataclass(frozen=True)
class Logistic:
    """Class log odds ``X @ weights + intercepts``."""

    weights: np.ndarray  # (n_features, n_classes)
    intercepts: np.ndarray  # (n_classes,)

    def log_proba(self, X: np.ndarray) -> np.ndarray:
        return _log_softmax(X @ self.weights + self.intercepts)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (X @ self.weights + self.intercepts).argmax(axis=1)


def fit_logistic(
    X: np.ndarray,
    labels: np.ndarray,
    *,
    C: float = 1.0,
    balanced: bool = False,
    tol: float = 1e-4,
    max_iter: int = 200,
    start: Logistic | None = None,
) -> Logistic:
    """Fit classes 0, 1, ... (all of them occur); ``C=inf`` is no penalty, ``balanced`` weighs all classes equally.

    Columns of X should be of comparable scale. ``tol`` bounds the gradient of the mean loss. ``start`` is a fit of
    the same data with another C.

    >>> model = fit_logistic(np.array([[-1.0], [-0.5], [0.5], [1.0]]), np.array([0, 0, 1, 1]))
    >>> model.predict(np.array([[-2.0], [2.0]]))
    array([0, 1])
    """
    counts = np.bincount(labels)
    n, K = len(X), len(counts)
    sample = (n / (K * counts))[labels] if balanced else np.ones(n)
    centre = X.mean(axis=0)
    to_white = _whitening(X - centre)
    U = np.column_stack([(X - centre) @ to_white, np.ones(n)])
    narrow = U.astype(np.float32)  # twice as fast, and far finer than tol
    ridge = (to_white.T @ to_white) / (C * n)
    rows = np.arange(n)
    share = (sample / n).astype(np.float32)

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        theta = flat.reshape(U.shape[1], K)
        p = narrow @ theta.astype(np.float32)
        p -= p.max(axis=1, keepdims=True)
        own = p[rows, labels]
        np.maximum(p, -60, out=p)  # numbers below the normal range of float32 would slow everything down
        np.exp(p, out=p)
        total = p.sum(axis=1)
        loss = np.dot(share.astype(np.float64), np.log(total) - own)
        p *= (share / total)[:, None]
        p[rows, labels] -= share
        gradient = (narrow.T @ p).astype(np.float64)
        penalty = ridge @ theta[:-1]
        gradient[:-1] += penalty
        return float(loss + 0.5 * np.sum(penalty * theta[:-1])), gradient.ravel()

    if start is None:
        guess = _discriminant(U[:, :-1], labels, sample, counts)
        scales = np.array([1.0, 0.3, 0.1])
        guess *= scales[np.argmin([objective((guess * s).ravel())[0] for s in scales])]
    else:
        guess = np.vstack([np.linalg.lstsq(to_white, start.weights)[0], start.intercepts + centre @ start.weights])
    options: dict[str, Any] = {"maxiter": max_iter, "gtol": tol, "ftol": 1e-12, "maxcor": 10, "maxls": 30}
    found: Any = minimize(objective, guess.ravel(), jac=True, method="L-BFGS-B", options=options)  # type: ignore[call-overload]
    theta = found.x.reshape(-1, K)
    weights = to_white @ theta[:-1]
    return Logistic(weights, theta[-1] - centre @ weights)


def standardise(train: np.ndarray, *others: np.ndarray) -> list[np.ndarray]:
    """The columns that vary in ``train``, of mean 0 and variance 1 there, in an order determined by the data.

    The given order of the codes must not reach the solver, or it would change the last digits of a score.

    >>> standardise(np.array([[0.0, 5.0], [2.0, 5.0]]))
    [array([[-1.], [ 1.]])]
    """
    keep = np.ptp(train, axis=0) > 0
    mean, scale = train[:, keep].mean(axis=0), train[:, keep].std(axis=0)
    scaled = [(x[:, keep] - mean) / scale for x in (train, *others)]
    order = np.lexsort(scaled[0][:64]) if keep.any() else np.arange(0)
    return [x[:, order] for x in scaled]


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    logits = logits - logits.max(axis=1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


def _whitening(centred: np.ndarray) -> np.ndarray:
    """Map to uncorrelated columns of unit variance; directions without variance are dropped."""
    values, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
    keep = values > max(values[-1] * 1e-12, 0)
    return vectors[:, keep] / np.sqrt(values[keep])


def _discriminant(U: np.ndarray, labels: np.ndarray, sample: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Weights and intercepts of linear discriminant analysis, a little shrunk so that it always exists."""
    K, d = len(counts), U.shape[1]
    means = np.zeros((K, d))
    np.add.at(means, labels, U)
    means /= counts[:, None]
    within = np.eye(d) - (means.T * (counts / len(U))) @ means + 1e-3 * np.eye(d)
    weights = np.linalg.solve(within, means.T)
    prior = np.log(np.bincount(labels, weights=sample, minlength=K))
    intercepts = prior - 0.5 * np.sum(means.T * weights, axis=0)
    return np.vstack([weights, intercepts - intercepts.mean()])
