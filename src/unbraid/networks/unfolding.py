"""Flows for strongly bent data: one finds a surface, one unfolds the codes on it, whose volume the others take up."""

import numpy as np
import torch
import torch.nn.functional as F
from scipy.linalg import schur
from torch import Tensor

from unbraid.networks.coupling import Affine, Coupling, DenseCoupling
from unbraid.networks.flow import Flow

SQUARINGS, ORDER = 4, 8  # exact to float32 for rotations by up to 10 radians


class Rotation:
    """x to exp(A - A') x with a free matrix A: any rotation, which keeps the volume; ``start`` is the first A."""

    start: np.ndarray | None = None

    def __init__(self, features: int):
        self.shapes: list[tuple[int, ...]] = [(features, features)]

    def forward(self, p: list[Tensor], x: Tensor) -> tuple[Tensor, Tensor | None]:
        return rotation(p[0]) @ x, None

    def inverse(self, p: list[Tensor], y: Tensor) -> Tensor:
        return rotation(p[0]).transpose(1, 2) @ y


def rotation(a: Tensor) -> Tensor:
    """exp(A - A') of matrices (K, d, d) by products alone, which every export format has.

    >>> r = rotation(torch.tensor([[[0.0, torch.pi / 2], [0.0, 0.0]]]))
    >>> r.round(decimals=5).abs().tolist()
    [[[0.0, 1.0], [1.0, 0.0]]]
    """
    skew = (a - a.transpose(1, 2)) / 2**SQUARINGS
    unit = torch.eye(a.shape[1], dtype=a.dtype, device=a.device)
    result = unit
    for k in range(ORDER, 0, -1):
        result = unit + skew @ result / k
    for _ in range(SQUARINGS):
        result = result @ result
    return result


def principal_frame(X: np.ndarray) -> np.ndarray:
    """The A whose rotation takes rows to their principal components, the widest first."""
    axes = np.linalg.eigh(np.cov(X.T))[1].T[::-1].copy()
    axes[-1] *= np.sign(np.linalg.det(axes))
    triangle, vectors = schur(axes, output="complex")  # diagonal, as rotations are normal; logm draws random numbers
    return (1j * np.angle(np.diagonal(triangle)) * vectors @ vectors.conj().T).real / 2


class SmoothCoupling(DenseCoupling):
    """A fully connected block whose sub-networks are smooth (SiLU): near a bend they need fewer units than ReLUs."""

    def subnet(self, p: list[Tensor], x: Tensor) -> Tensor:
        w1, b1, w2, b2, w3, b3 = p
        h = F.silu(torch.baddbmm(b1.unsqueeze(2), w1, x))
        h = F.silu(torch.baddbmm(b2.unsqueeze(2), w2, h))
        return torch.baddbmm(b3.unsqueeze(2), w3, h)


class SurfaceCoupling(SmoothCoupling):
    """Two shifts: of the first ``on`` codes by the others, then of the others by these.

    The first say where on a surface a point is, and the others how far off it: a decoder with all other codes 0 gives
    the surface.
    """

    def __init__(self, features: int, hidden: int, on: int, permutations: Tensor):
        super().__init__(features, hidden, Affine("nice"), permutations)
        self.first, self.second = on, features - on

    def with_permutations(self, permutations: Tensor) -> "SurfaceCoupling":
        return SurfaceCoupling(self.features, self.hidden, self.first, permutations)


class Part(Coupling):
    """A flow of some codes, whose change of volume the others take up, each alike.

    Parameters
    ----------
    part : Flow
        Of K models and k features, with the same permutations in all models.
    permutations : Tensor of int64, (K, features)
        The order of all codes; the first k are those of ``part``.
    """

    def __init__(self, part: Flow, permutations: Tensor):
        super().__init__(permutations.shape[1], 0, Affine("realnvp"), permutations)
        self.part = part

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [shape for layer in self.part.layers for shape in layer.shapes]

    def forward(self, p: list[Tensor], x: Tensor) -> tuple[Tensor, Tensor | None]:
        some, rest = self._split(self.permute(x, self._gather))
        some, change = self._through(p, some)
        return torch.cat((some, rest * (-change).exp()), 1), None

    def inverse(self, p: list[Tensor], y: Tensor) -> Tensor:
        some, rest = self._split(y)
        some = self.part.inverse(self._flat(p), some)
        return self.permute(torch.cat((some, rest * self._through(p, some)[1].exp()), 1), self._gather_back)

    def _through(self, p: list[Tensor], some: Tensor) -> tuple[Tensor, Tensor]:
        """Codes of the part, and the log-scale that each of the others gives back."""
        codes, volume = self.part.forward(self._flat(p), some)
        assert volume is not None
        return codes, (volume / (self.features - self.part.n_features)).unsqueeze(1)

    def _flat(self, p: list[Tensor]) -> Tensor:
        return torch.cat([q.flatten(1) for q in p], 1)

    def _split(self, x: Tensor) -> tuple[Tensor, ...]:
        k = self.part.n_features
        return x.split((k, self.features - k), 1)

    def with_permutations(self, permutations: Tensor) -> "Part":
        inner = [p[:1].to(permutations.device).expand(len(permutations), -1) for p in self.part.permutations]
        return Part(self.part.with_permutations(inner), permutations)


def surface_flow(n_features: int, on: int, *, hidden: int = 64, n_models: int = 1) -> Flow:
    """A learned rotation and the shifts of a :class:`SurfaceCoupling`; the first ``on`` codes are those on the surface.

    >>> len(surface_flow(10, 2).layers)
    2
    """
    coupling = SurfaceCoupling(n_features, hidden, on, _unpermuted(n_features, n_models))
    return Flow([Rotation(n_features), coupling], (n_features,), n_models)


def off_surface(flow: Flow, theta: Tensor, x: Tensor) -> Tensor:
    """Share (K,) of the variance of points (K, features, batch) that is lost with the codes off the surface."""
    codes, _ = flow.forward(theta, x)
    on = flow.layers[-1].first
    decoded = flow.inverse(theta, torch.cat((codes[:, :on], torch.zeros_like(codes[:, on:])), 1))
    return (x - decoded).square().sum((1, 2)) / (x - x.mean(2, keepdim=True)).square().sum((1, 2))


def part_flow(
    n_features: int, *, n_blocks: int = 8, hidden: int = 32, affine: Affine | None = None, n_models: int = 1
) -> Flow:
    """What unfolds the codes on the surface: smooth couplings between learned rotations, which may change the volume.

    >>> len(part_flow(2).layers)
    17
    """
    layers: list = [Rotation(n_features)]
    order, affine = _unpermuted(n_features, n_models), affine or Affine("realnvp")
    for _ in range(n_blocks):
        layers += [SmoothCoupling(n_features, hidden, affine, order), Rotation(n_features)]
    return Flow(layers, (n_features,), n_models)


def with_part(flow: Flow, part: Flow) -> Flow:
    """``flow`` (one model) followed by ``part``, K flows of its first codes.

    The parameters are those of ``flow``, then those of ``part``.
    """
    many = part.n_models
    order = _unpermuted(flow.n_features, many)
    return Flow([*flow.select(*[0] * many).layers, Part(part, order)], flow.shape, many)


def _unpermuted(n_features: int, n_models: int) -> Tensor:
    return torch.arange(n_features).expand(n_models, -1)
