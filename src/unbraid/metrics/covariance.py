"""Covariance of codes, for the scores that need no factors."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics.arrays import check_codes


def code_covariance(factors: ArrayLike | None, codes: ArrayLike | None, variances: ArrayLike | None) -> np.ndarray:
    """Covariance of the codes that vary, of their means or (with ``variances``) of samples around them."""
    if codes is None:
        factors, codes = None, factors
    if codes is None:
        raise TypeError("no codes were given; call the metric with (codes) or with (factors, codes).")
    z = check_codes(codes)
    if factors is not None and len(np.asarray(factors)) != len(z):
        raise ValueError(f"factors have {len(np.asarray(factors))} rows and codes {len(z)}; they must agree.")
    noise = np.zeros(z.shape[1])
    if variances is not None:
        spread = check_codes(variances, "variances")
        if spread.shape != z.shape or (spread < 0).any():
            raise ValueError(f"variances must be non-negative and of the codes' shape {z.shape}, not {spread.shape}.")
        noise = spread.mean(axis=0)
    keep = (np.ptp(z, axis=0) > 0) | (noise > 0)
    return np.atleast_2d(np.cov(z[:, keep], rowvar=False)) + np.diag(noise[keep]) if keep.any() else np.zeros((0, 0))
