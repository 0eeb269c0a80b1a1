"""Statistics and likelihoods of codes under each kind of condition, for K models at once."""

import numpy as np
import torch
from torch import Tensor

from unbraid.flows.families import Normal

Parameters = tuple[Tensor, Tensor]


def class_parameters(family: Normal, r: Tensor, weights: Tensor) -> Parameters:
    """Parameters (K, C, d) of codes r (K, n, d) given class weights (n, C), 0 or 1 for hard labels."""
    fitted = []
    for w in weights.T:
        members = w > 0
        part, hard = r[:, members].transpose(1, 2), bool((w[members] == 1).all())
        fitted.append(family.fit(part, None if hard else w[members]))
    return torch.stack([p[0] for p in fitted], 1), torch.stack([p[1] for p in fitted], 1)


def class_nll(family: Normal, r: Tensor, p: Parameters, weights: Tensor) -> Tensor:
    """-log density (K, n) of codes r (K, n, d): that of a point's class, averaged by soft weights."""
    total = r.new_zeros(r.shape[:2])
    for c, w in enumerate(weights.T):
        members = w > 0
        if members.any():
            nll = family.nll(r[:, members], (p[0][:, c, None], p[1][:, c, None])).sum(-1)
            total[:, members] += w[members].to(r.dtype) * nll
    return total


def one_hot(labels: np.ndarray, n_classes: int) -> Tensor:
    """Class weights (n, C) of class numbers.

    >>> one_hot(np.array([1]), 2).tolist()
    [[0.0, 1.0]]
    """
    return torch.nn.functional.one_hot(torch.from_numpy(np.asarray(labels, np.int64)), n_classes).double()


def log_densities(family: Normal, r: np.ndarray, p: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """log p(r_i | class), (n, C, d), of codes (n, d) under parameters (C, d)."""
    q = (torch.from_numpy(p[0]), torch.from_numpy(p[1]))
    return -family.nll(torch.from_numpy(r.astype(np.float64))[:, None], q).numpy()
