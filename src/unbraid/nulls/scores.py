"""How well codes of held-out rows go with their evidence: one number for each kind of it, from codes alone.

Each is simple on purpose. A null compares a score with the same score of shuffled evidence, so it must be comparable
and powerful, not large; the units of the codes, their signs and their order never matter.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import rankdata

Floats = NDArray[np.float64]

DOUBT = 0.01  # weight of the prior in the posterior: no single row can cost more than the log of this
FARTHEST = 5.0  # standard deviations, beyond which a code counts as this far
PRIOR_ROWS = 5.0  # rows of unit variance with which the variance of each class starts
REPEATS = 5  # random partners for each row that has a partner


def class_odds(train: Floats, labels: NDArray, held: Floats, held_labels: NDArray) -> float:
    r"""Mean over held-out rows of :math:`\log p(y | c) / p(y)`, in nats; 0 is what the class frequencies alone give.

    :math:`p(c | y)` is a normal of diagonal covariance for each class, fitted to the codes of the training rows. It
    sees classes that differ in the means of codes and those that differ in their variances alone.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=600)
    >>> codes = rng.normal(size=(600, 2)) * np.where(y, 1.0, 0.2)[:, None]
    >>> class_odds(codes[:400], y[:400], codes[400:], y[400:]) > 0.3
    True
    """
    Z, new = _scaled(train, held)
    classes, own, counts = np.unique(labels, return_inverse=True, return_counts=True)
    seen = np.isin(held_labels, classes)
    if not seen.any():
        return float("nan")
    weights = np.eye(len(classes))[own]
    means = weights.T @ Z / (counts[:, None] + 1)
    squares = weights.T @ Z**2 - 2 * means * (weights.T @ Z) + counts[:, None] * means**2
    variances = (squares + PRIOR_ROWS) / (counts[:, None] + PRIOR_ROWS)
    prior = counts / counts.sum()
    distance = ((new[seen, None] - means) ** 2 / variances + np.log(variances)).sum(axis=2)
    logs = np.log(prior) - 0.5 * distance
    posterior = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    right = np.searchsorted(classes, held_labels[seen])
    p = (1 - DOUBT) * posterior[np.arange(len(right)), right] + DOUBT * prior[right]
    return float(np.mean(np.log(p / prior[right])))


def predicted_ranks(train: Floats, values: Floats, held: Floats, held_values: Floats) -> float:
    """Rank correlation of known numbers of held-out rows with those that the codes predict; mean over columns.

    The prediction is a ridge regression on the codes and their squares, with as much penalty as there are terms: it
    sees numbers that move a code, and those that change how far it spreads.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> u = rng.uniform(1, 3, size=(300, 1))
    >>> codes = rng.normal(size=(300, 2)) * u
    >>> predicted_ranks(codes[:200], u[:200], codes[200:], u[200:]) > 0.3
    True
    """
    Z, new = _scaled(train, held)
    terms, new_terms = np.c_[Z, Z**2 - 1], np.c_[new, new**2 - 1]
    target = values - values.mean(axis=0)
    gram = terms.T @ terms + terms.shape[1] * np.eye(terms.shape[1])
    predicted = new_terms @ np.linalg.solve(gram, terms.T @ target)
    found = [_correlation(rankdata(p), rankdata(v)) for p, v in zip(predicted.T, held_values.T)]
    return float(np.mean(found))


def partner_auc(codes: Floats, pairs: NDArray[np.intp], rng: np.random.Generator) -> float:
    """Probability that a row is nearer to its partner than to another row, in a code: mean over codes; .5 is chance.

    Codes are compared one by one, so partners that share some factors and differ widely in others still count.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(400, 2))
    >>> z[200:, 0] = z[:200, 0]                        # partners share the first factor and not the second
    >>> round(partner_auc(z, np.c_[:200, 200:400], rng), 1)
    0.8
    """
    first, second = codes[pairs[:, 0]], codes[pairs[:, 1]]
    near = np.abs(first - second)
    far = np.concatenate([np.abs(first - second[rng.permutation(len(second))]) for _ in range(REPEATS)])
    ranks = rankdata(np.concatenate([near, far]), axis=0)[: len(near)].mean(axis=0)
    return float(np.mean(1 - (ranks - (len(near) + 1) / 2) / len(far)))


def _scaled(train: Floats, held: Floats) -> tuple[Floats, Floats]:
    """Both by mean and spread of the training codes, and none farther out than 5 standard deviations."""
    mean, spread = train.mean(axis=0), np.maximum(train.std(axis=0), 1e-300)
    return np.clip((train - mean) / spread, -FARTHEST, FARTHEST), np.clip((held - mean) / spread, -FARTHEST, FARTHEST)


def _correlation(a: Floats, b: Floats) -> float:
    a, b = a - a.mean(), b - b.mean()
    size = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / size) if size else 0.0
