"""What several starts agree on, and how one of them comes to have it."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from unbraid.flows.spectrum import standardised
from unbraid.flows.training import FlowTrainer, Forward
from unbraid.networks.flow import Flow
from unbraid.training.batches import Batch
from unbraid.training.trainer import Group, Loss, Trainer

WEIGHT = 5.0  # nats for a correlation of 0 in place of 1; with 1 a flow comes less near, 20 costs more likelihood
SHARE = 8  # of the steps of the training, one in so many follows it


class Consensus:
    r"""The codes that K starts agree on: of those that are alike, the geometric median.

    The start ``kept`` gives the order. Of every start that code takes part which has the largest absolute correlation
    with the code in question, as c_k of mean 0, std 1 and the sign of the correlation. The consensus is the c of least

    .. math:: \sum_k \lVert c_k - c \rVert, \quad c = \sum_k w_k c_k,

    so that starts in the minority, however far, count for little. What is the same in all starts stays as it is; what
    each has in its own way, such as the functions of other factors that no loss forbids, is averaged out.

    Parameters
    ----------
    codes : array (K, n, d)
        Of the same rows by every start.
    kept : int
        The start whose codes are asked for.

    References
    ----------
    Weiszfeld (1937), Sur le point pour lequel la somme des distances de n points donnés est minimum.

    Examples
    --------
    >>> z, other = np.random.default_rng(0).normal(size=(2, 500, 3))
    >>> starts = np.stack([z, -2 * z[:, ::-1], z + 0.01 * other, z + 0.9 * other])
    >>> found = Consensus(starts, 0)(torch.from_numpy(starts.transpose(0, 2, 1))).numpy()
    >>> [bool(np.corrcoef(found[i], z[:, i])[0, 1] > 0.999) for i in range(3)]
    [True, True, True]
    """

    def __init__(self, codes: np.ndarray, kept: int):
        standard, stds = standardised(codes)
        correlations = np.stack([standard[kept].T @ one for one in standard]) / codes.shape[1]  # (K, d of kept, d)
        which = np.abs(correlations).argmax(2)
        signs = np.sign(np.take_along_axis(correlations, which[..., None], 2)[..., 0])
        alike = np.take_along_axis(standard, which[:, None], 2) * signs[:, None]
        weights = geometric_median(np.einsum("kni,lni->ikl", alike, alike) / codes.shape[1]).T
        scales = signs * weights / np.maximum(np.take_along_axis(stds, which, 1), 1e-12)
        self.which, self.scales = torch.from_numpy(which), torch.from_numpy(scales)
        self.shares = torch.from_numpy(stds[kept] ** 2 / max((stds[kept] ** 2).sum(), 1e-12))

    def __call__(self, r: Tensor) -> Tensor:
        """The consensus (d, n), up to a shift, from codes of all starts (K, d, n)."""
        alike = r.gather(1, self.which.to(r.device)[..., None].expand(-1, -1, r.shape[2]))
        return (alike * self.scales.to(r)[..., None]).sum(0)

    def distance(self, r: Tensor, consensus: Tensor) -> Tensor:
        """Mean of 1 - correlation of codes (d, n) with the consensus; each counts by its share of the variance."""
        r, consensus = (x - x.mean(1, keepdim=True) for x in (r, consensus))
        norms = (r.square().sum(1) * consensus.square().sum(1)).clamp_min(1e-24).sqrt()
        return self.shares.to(r) @ (1 - (r * consensus).sum(1) / norms)


def geometric_median(products: np.ndarray, n_iterations: int = 100) -> np.ndarray:
    """Weights (..., K), summing to 1, of the geometric median of K vectors with inner products (..., K, K).

    Weiszfeld's iteration: every vector by the inverse of its distance to the last median.

    >>> x = np.array([[0.0, 0.0], [0.1, 0.0], [-0.1, 0.0], [5.0, 5.0]])
    >>> bool(np.linalg.norm(geometric_median(x @ x.T) @ x) < 0.15)
    True
    """
    weights = np.full(products.shape[:-1], 1 / products.shape[-1])
    own = np.diagonal(products, axis1=-2, axis2=-1)
    for _ in range(n_iterations):
        with_median = (products @ weights[..., None])[..., 0]
        squares = own - 2 * with_median + (weights * with_median).sum(-1, keepdims=True)
        weights = 1 / np.sqrt(np.maximum(squares, 1e-6))
        weights /= weights.sum(-1, keepdims=True)
    return weights


def follow(
    consensus: Consensus, trainer: FlowTrainer, starts: Flow, theta: Tensor, kept: int, of_all: Forward, of_one: Forward
) -> Tensor:
    """Parameters of start ``kept`` after some more steps at the low rate, to the consensus as well as to the loss.

    ``starts`` and ``theta`` are the starts that take part, ``of_all`` and ``of_one`` what computes them and the one.
    """
    one, schedule = starts.select(kept), trainer.schedule
    parameters = nn.ParameterList([theta[kept : kept + 1].clone()])

    def objective(batch: Batch) -> Iterator[Loss]:
        with torch.no_grad():
            target = consensus(of_all(theta, starts.lay_out(batch.x))[0])
        r, _ = of_one(parameters[0], one.lay_out(batch.x))
        loss = trainer.condition.loss(r, batch.rows, trainer.extra[:1]).sum()
        loss = loss + WEIGHT * consensus.distance(r[0], target)
        yield Loss("one", loss, {"loss": loss})

    group = Group(("one",), schedule.learning_rate / 10, schedule.betas)
    following = Trainer(
        nn.ModuleDict({"one": parameters}), {"one": group}, objective, trainer.source, schedule, trainer.device
    )
    for done in range(max(1, schedule.max_steps // SHARE)):
        following.step(done)
    return parameters[0].detach()
