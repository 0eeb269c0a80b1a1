"""Unsupervised disentanglement ranking."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.arrays import check_codes, choose
from unbraid.metrics.matching import correlations


@dataclass(frozen=True)
class UDR:
    """One score per model.

    Attributes
    ----------
    scores : ndarray (n_models,)
        Median over the other models; higher is better.
    pairwise : ndarray (n_models, n_models)
        Score of the codes of model j as explained by those of model i; NaN on the diagonal.
    """

    scores: np.ndarray
    pairwise: np.ndarray


def udr(
    codes: Sequence[ArrayLike],
    *,
    kind: str = "lasso",
    kl: Sequence[ArrayLike] | None = None,
    threshold: float = 0.01,
    alpha: float = 0.1,
) -> UDR:
    r"""Unsupervised disentanglement ranking: models that disentangle agree with each other, axis by axis.

    .. math:: \mathrm{UDR}_{ij} = \frac12 \left( \operatorname{mean}_a \frac{\max_b R_{ab}^2}{\sum_b R_{ab}}
              + \operatorname{mean}_b \frac{\max_a R_{ab}^2}{\sum_a R_{ab}} \right), \qquad
              \mathrm{UDR}_j = \operatorname{median}_{i \ne j} \mathrm{UDR}_{ij}

    with :math:`R` the absolute weights of a Lasso from the standardised codes of model i to those of model j, or
    their absolute Spearman correlations. Needs no factors; use it to choose among seeds and strengths.

    Parameters
    ----------
    codes : sequence of arrays (n_samples, n_codes of the model)
        Codes of the same samples by two or more models.
    kind : {"lasso", "spearman"}
    kl : sequence of arrays (n_codes of the model,), optional
        Mean divergence of each code from the prior; a code with ``kl <= threshold`` is dead and does not count.
        Without it, constant codes are dead.
    threshold : float
    alpha : float
        Penalty of the Lasso.

    Returns
    -------
    UDR

    References
    ----------
    Duan et al. 2020, "Unsupervised model selection for variational disentangled representation learning", section 4.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).normal(size=(1000, 3))
    >>> udr([z, -z[:, ::-1], 2 * z], kind="spearman").scores.round(1)
    array([0.9, 0.9, 0.9])
    """
    choose(kind, ("lasso", "spearman"), "kind")
    for name, value in (("threshold", threshold), ("alpha", alpha)):
        if not (np.isfinite(value) and value >= 0):
            raise ValueError(f"{name}={value!r} must be a number of at least 0.")
    if isinstance(codes, np.ndarray) and codes.ndim < 3:
        raise ValueError(
            f"codes are one array of shape {codes.shape}, and agreement is between models: give a list of arrays "
            "(n_samples, n_codes), one per model."
        )
    models = [check_codes(c, f"codes of model {i}") for i, c in enumerate(codes)]
    if len(models) < 2 or len({len(z) for z in models}) > 1:
        raise ValueError(
            f"codes hold {len(models)} model(s) with {sorted({len(z) for z in models})} samples; "
            "give the codes of the same samples by at least 2 models."
        )
    divergences = None if kl is None else [np.atleast_1d(np.asarray(k, dtype=np.float64)) for k in kl]
    if divergences is not None and (
        [k.shape for k in divergences] != [z.shape[1:] for z in models] or np.isnan(np.concatenate(divergences)).any()
    ):
        raise ValueError("kl must hold one number, not NaN, for each code of each model.")
    alive = [np.ptp(z, axis=0) > 0 for z in models]
    if divergences is not None:
        alive = [a & (k > threshold) for a, k in zip(alive, divergences)]
    kept = [z[:, a] for z, a in zip(models, alive)]
    pairwise = np.full((len(kept), len(kept)), np.nan)
    for i, j in permutations(range(len(kept)), 2):
        pairwise[i, j] = _agreement(kept[i], kept[j], kind, alpha)
    return UDR(np.nanmedian(pairwise, axis=0), pairwise)


def _agreement(a: np.ndarray, b: np.ndarray, kind: str, alpha: float) -> float:
    if not a.shape[1] or not b.shape[1]:
        return 0.0
    relation = np.abs(correlations(a, b, "spearman") if kind == "spearman" else _lasso(a, b, alpha))
    return (_relative_strength(relation) + _relative_strength(relation.T)) / 2


def _lasso(a: np.ndarray, b: np.ndarray, alpha: float) -> np.ndarray:
    """Weights from each standardised code of a to each of b, (n_codes of a, n_codes of b)."""
    from sklearn.linear_model import Lasso

    a, b = (a - a.mean(axis=0)) / a.std(axis=0), (b - b.mean(axis=0)) / b.std(axis=0)
    model = Lasso(
        alpha=alpha, fit_intercept=True, precompute=False, max_iter=1000, tol=1e-4, positive=False, selection="cyclic"
    )
    return np.atleast_2d(model.fit(a, b).coef_).reshape(b.shape[1], a.shape[1]).T


def _relative_strength(relation: np.ndarray) -> float:
    total = relation.sum(axis=0)
    return float(np.mean(np.divide(relation.max(axis=0) ** 2, total, out=np.zeros_like(total), where=total > 0)))
