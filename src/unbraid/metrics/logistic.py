"""Multinomial logistic regression, the classifier of four metrics; every setting is in the call.

The objective is scikit-learn's: C times the (weighted) sum of log losses plus half the squared norm of the weights,
the intercepts free. It is minimised by L-BFGS in whitened coordinates from the linear discriminant, which lies close
to the optimum, so that it takes a fraction of the iterations.
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
    tol: float = 1e-5,
    max_iter: int = 200,
) -> Logistic:
    """Fit classes 0, 1, ... (all of them occur); ``C=inf`` is without penalty, ``balanced`` weighs classes alike.

    Columns of X should be of comparable scale. ``tol`` bounds the gradient of the mean loss.

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
    ridge = (to_white.T @ to_white) / (C * n)
    rows = np.arange(n)
    share = sample / n

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        theta = flat.reshape(U.shape[1], K)
        logp = _log_softmax(U @ theta)
        loss = -(share @ logp[rows, labels])
        p = np.exp(logp, out=logp)
        p[rows, labels] -= 1
        p *= share[:, None]
        gradient = U.T @ p
        penalty = ridge @ theta[:-1]
        gradient[:-1] += penalty
        return float(loss + 0.5 * np.sum(penalty * theta[:-1])), gradient.ravel()

    start = _discriminant(U[:, :-1], labels, sample, counts)
    scales = np.array([1.0, 0.3, 0.1, 0.03, 0.0])
    start = start * scales[np.argmin([objective((start * s).ravel())[0] for s in scales])]
    options: dict[str, Any] = {"maxiter": max_iter, "gtol": tol, "ftol": 1e-12, "maxcor": 10, "maxls": 30}
    found: Any = minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options=options)  # type: ignore[call-overload]
    theta = found.x.reshape(-1, K)
    weights = to_white @ theta[:-1]
    return Logistic(weights, theta[-1] - centre @ weights)


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    logits = logits - logits.max(axis=1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


def _whitening(centred: np.ndarray) -> np.ndarray:
    """Map to uncorrelated columns of unit variance; directions without variance are dropped."""
    values, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
    keep = values > values[-1] * 1e-12
    return vectors[:, keep] / np.sqrt(values[keep])


def _discriminant(U: np.ndarray, labels: np.ndarray, sample: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Weights and intercepts of linear discriminant analysis, a little shrunk so that it always exists."""
    K, d = len(counts), U.shape[1]
    means = np.stack([np.bincount(labels, weights=column, minlength=K) for column in U.T], axis=1) / counts[:, None]
    within = np.eye(d) - (means.T * (counts / len(U))) @ means + 1e-3 * np.eye(d)
    weights = np.linalg.solve(within, means.T)
    prior = np.log(np.bincount(labels, weights=sample, minlength=K))
    intercepts = prior - 0.5 * np.sum(means.T * weights, axis=0)
    return np.vstack([weights, intercepts - intercepts.mean()])
