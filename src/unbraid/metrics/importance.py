"""Disentanglement and completeness of an importance matrix (n_codes, n_factors), for the metrics of the DCI family."""

import numpy as np


def disentanglement(importance: np.ndarray) -> float:
    """Mean of 1 - entropy over factors (base K), codes weighted by their importance."""
    return _weighted_purity(importance)


def completeness(importance: np.ndarray) -> float:
    """Mean of 1 - entropy over codes (base D), factors weighted by their importance."""
    return _weighted_purity(importance.T)


def _weighted_purity(matrix: np.ndarray) -> float:
    total = matrix.sum()
    if total == 0:
        return 0.0
    if matrix.shape[1] == 1:
        return 1.0  # nothing else to be confused with
    p = matrix + 1e-11  # as in the study's code
    p /= p.sum(axis=1, keepdims=True)
    purity = 1 + (p * np.log(p)).sum(axis=1) / np.log(matrix.shape[1])
    return float(np.clip(purity @ (matrix.sum(axis=1) / total), 0, 1))
