"""The six two-parameter families of GIN's Table 1, as densities of the flow's real output r.

Each family has a link from r to its support, z = exp(r) or 1 / (1 + exp(-r)), so any family can follow any flow and
noise dimensions need no special case. Parameters are maximum likelihood over the last axis. At that maximum the
derivative by the parameters is 0, so they carry no gradient and the loss still has the exact one.
"""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from scipy import stats
from torch import Tensor

FLOOR = 1e-10  # added to variances: a constant latent has a finite loss; far below any data noise in use


class Normal:
    """N(mu, sigma^2); identifies z_i = a w_j + c.

    >>> import torch
    >>> [p.item() for p in Normal().fit(torch.tensor([1.0, 3.0]))]
    [2.0, 1.0]
    """

    def link(self, r: Any) -> Any:
        """From the flow's output to the latent variable (arrays or tensors)."""
        return r

    def unlink(self, z: Any) -> Any:
        return z

    def fit(self, r: Tensor, weights: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The two parameters over the last axis, in double precision, without gradient; two passes."""
        r, weights = _double(r, weights)
        mean = _average(r, weights)
        var = _average((r - mean.unsqueeze(-1)) ** 2, weights)
        return mean, (var + FLOOR).sqrt()

    def nll(self, r: Tensor, p: tuple[Tensor, Tensor]) -> Tensor:
        """-log density of r given parameters that broadcast against it."""
        mean, std = (q.to(r.dtype) for q in p)
        return 0.5 * ((r - mean) / std) ** 2 + std.log() + 0.5 * np.log(2 * np.pi)

    def distribution(self, p: tuple[np.ndarray, np.ndarray]) -> Any:
        """The frozen scipy distribution of z."""
        return stats.norm(*p)


class Lognormal(Normal):
    """log z ~ N(mu, sigma^2); identifies log z_i = a log w_j + c."""

    def link(self, r: Any) -> Any:
        return r.exp() if isinstance(r, Tensor) else np.exp(r)

    def unlink(self, z: Any) -> Any:
        return z.log() if isinstance(z, Tensor) else np.log(z)

    def distribution(self, p: tuple[np.ndarray, np.ndarray]) -> Any:
        return stats.lognorm(s=p[1], scale=np.exp(p[0]))


class InverseGaussian(Lognormal):
    """IG(mu, lambda), parameters log mu and phi = lambda / mu; identifies z_i = a w_j or z_i = a / w_j.

    With d = r - log mu: -log p(r) = (log 2 pi - log phi + d) / 2 + 2 phi sinh^2(d / 2).
    """

    def fit(self, r: Tensor, weights: Tensor | None = None) -> tuple[Tensor, Tensor]:
        r, weights = _double(r, weights)
        log_mean = _log_mean_exp(r, weights)
        inverse = _average(torch.expm1(log_mean.unsqueeze(-1) - r), weights)
        return log_mean, 1 / (inverse + FLOOR)

    def nll(self, r: Tensor, p: tuple[Tensor, Tensor]) -> Tensor:
        log_mean, shape = (q.to(r.dtype) for q in p)
        d = r - log_mean
        return 0.5 * (np.log(2 * np.pi) - shape.log() + d) + 2 * shape * torch.sinh(d / 2) ** 2

    def distribution(self, p: tuple[np.ndarray, np.ndarray]) -> Any:
        mean = np.exp(p[0])
        return stats.invgauss(mu=1 / p[1], scale=mean * p[1])


class Gamma(Lognormal):
    """Gamma(k, theta), parameters log(k theta) and k; identifies z_i = a w_j.

    With d = r - log(k theta): -log p(r) = k (exp(d) - d) - k log k + log Gamma(k).
    """

    def fit(self, r: Tensor, weights: Tensor | None = None) -> tuple[Tensor, Tensor]:
        r, weights = _double(r, weights)
        log_mean = _log_mean_exp(r, weights)
        gap = log_mean - _average(r, weights) + FLOOR / 2
        k = (3 - gap + ((gap - 3) ** 2 + 24 * gap).sqrt()) / (12 * gap)
        for _ in range(5):  # Newton on log k - digamma(k) = gap, in 1 / k (Minka, 2002)
            curvature = (k * (k * torch.polygamma(1, k) - 1)).clamp(min=0.4)  # 1/2 for large k, above it else
            k = 1 / (1 / k + (gap - _log_minus_digamma(k)) / curvature)
        return log_mean, k

    def nll(self, r: Tensor, p: tuple[Tensor, Tensor]) -> Tensor:
        log_mean, k = p
        constant = (k + torch.lgamma(k) - k * k.log()).to(r.dtype)
        d = r - log_mean.to(r.dtype)
        return k.to(r.dtype) * (torch.expm1(d) - d) + constant

    def distribution(self, p: tuple[np.ndarray, np.ndarray]) -> Any:
        return stats.gamma(a=p[1], scale=np.exp(p[0]) / p[1])


class InverseGamma(Gamma):
    """1 / z ~ Gamma(k, theta), parameters log(k theta) and k of 1 / z; identifies z_i = a w_j."""

    def fit(self, r: Tensor, weights: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return super().fit(-r, weights)

    def nll(self, r: Tensor, p: tuple[Tensor, Tensor]) -> Tensor:
        return super().nll(-r, p)

    def distribution(self, p: tuple[np.ndarray, np.ndarray]) -> Any:
        return stats.invgamma(a=p[1], scale=p[1] * np.exp(-p[0]))


class Beta(Normal):
    """Beta(a, b); identifies z_i = w_j or z_i = 1 - w_j.

    -log p(r) = a log(1 + exp(-r)) + b log(1 + exp(r)) + log B(a, b).
    """

    def link(self, r: Any) -> Any:
        return torch.sigmoid(r) if isinstance(r, Tensor) else 1 / (1 + np.exp(-r))

    def unlink(self, z: Any) -> Any:
        return torch.logit(z) if isinstance(z, Tensor) else np.log(z) - np.log1p(-z)

    def fit(self, r: Tensor, weights: Tensor | None = None) -> tuple[Tensor, Tensor]:
        r, weights = _double(r, weights)
        z = torch.sigmoid(r)
        mean = _average(z, weights)
        var = _average((z - mean.unsqueeze(-1)) ** 2, weights) + FLOOR * mean * (1 - mean)
        total = (mean * (1 - mean) / var - 1).clamp(min=1e-3)
        log_z = -_average(F.softplus(-r), weights)
        log_1z = -_average(F.softplus(r), weights)
        a, b = mean * total, (1 - mean) * total
        for _ in range(8):
            a, b = _beta_newton(a, b, log_z, log_1z)
        return a, b

    def nll(self, r: Tensor, p: tuple[Tensor, Tensor]) -> Tensor:
        a, b = p
        norm = (torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(a + b)).to(r.dtype)
        return a.to(r.dtype) * F.softplus(-r) + b.to(r.dtype) * F.softplus(r) + norm

    def distribution(self, p: tuple[np.ndarray, np.ndarray]) -> Any:
        return stats.beta(*p)


FAMILIES: dict[str, Normal] = {
    "normal": Normal(),
    "lognormal": Lognormal(),
    "inverse-gaussian": InverseGaussian(),
    "gamma": Gamma(),
    "inverse-gamma": InverseGamma(),
    "beta": Beta(),
}


def family(name: str) -> Normal:
    """The family of this name.

    >>> type(family("gamma")).__name__
    'Gamma'
    """
    if name not in FAMILIES:
        raise ValueError(f"latent={name!r} is not a latent family. Available: {', '.join(FAMILIES)}.")
    return FAMILIES[name]


def _beta_newton(a: Tensor, b: Tensor, log_z: Tensor, log_1z: Tensor) -> tuple[Tensor, Tensor]:
    """One step of Newton on the likelihood equations of the beta family, halved at most rather than below 0."""
    psi = torch.digamma(a + b)
    g1, g2 = log_z - torch.digamma(a) + psi, log_1z - torch.digamma(b) + psi
    shared = torch.polygamma(1, a + b)
    h11, h22 = shared - torch.polygamma(1, a), shared - torch.polygamma(1, b)
    det = h11 * h22 - shared * shared
    step_a, step_b = (h22 * g1 - shared * g2) / det, (h11 * g2 - shared * g1) / det
    good = det > 0
    step_a, step_b = torch.where(good, step_a, 0), torch.where(good, step_b, 0)
    return torch.maximum(a - step_a, a / 2), torch.maximum(b - step_b, b / 2)


def _log_minus_digamma(k: Tensor) -> Tensor:
    """log k - digamma(k); the asymptotic series where the difference would lose its digits."""
    series = 1 / (2 * k) + 1 / (12 * k**2) - 1 / (120 * k**4)
    return torch.where(k > 1e3, series, k.log() - torch.digamma(k))


def _double(r: Tensor, weights: Tensor | None) -> tuple[Tensor, Tensor | None]:
    return r.detach().double(), None if weights is None else weights.detach().double()


def _average(r: Tensor, weights: Tensor | None) -> Tensor:
    return r.mean(-1) if weights is None else (r * weights).sum(-1) / weights.sum(-1)


def _log_mean_exp(r: Tensor, weights: Tensor | None) -> Tensor:
    centre = r.amax(-1, keepdim=True) if weights is not None else _average(r, weights).unsqueeze(-1)
    return centre.squeeze(-1) + _average(torch.expm1(r - centre), weights).log1p()


def class_parameters(family: Normal, r: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """tuple[Tensor, Tensor] (K, C, d) of codes r (K, n, d) given class weights (n, C), 0 or 1 for hard labels."""
    fitted = []
    for w in weights.T:
        members = w > 0
        part, hard = r[:, members].transpose(1, 2), bool((w[members] == 1).all())
        fitted.append(family.fit(part, None if hard else w[members]))
    return torch.stack([p[0] for p in fitted], 1), torch.stack([p[1] for p in fitted], 1)


def class_nll(family: Normal, r: Tensor, p: tuple[Tensor, Tensor], weights: Tensor) -> Tensor:
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
    return F.one_hot(torch.from_numpy(np.asarray(labels, np.int64)), n_classes).double()


def log_densities(family: Normal, r: np.ndarray, p: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """log p(r_i | class), (n, C, d), of codes (n, d) under parameters (C, d)."""
    q = (torch.from_numpy(p[0]), torch.from_numpy(p[1]))
    return -family.nll(torch.from_numpy(r.astype(np.float64))[:, None], q).numpy()
