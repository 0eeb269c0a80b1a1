"""Metrics as modules of torchmetrics: batches in, one number at the end of an epoch (extra ``torchmetrics``)."""

from dataclasses import is_dataclass
from typing import Any

import numpy as np

from unbraid import metrics
from unbraid.metrics import METRICS
from unbraid.runtime.extras import require

require("torch", "torchmetrics")
require("torchmetrics", "torchmetrics")

import torch  # noqa: E402  after the check that it is installed
from torch import Tensor  # noqa: E402
from torchmetrics import Metric as TorchMetric  # noqa: E402
from torchmetrics.utilities import dim_zero_cat  # noqa: E402

# metrics of one sample of codes, with or without factors
_OFFERED = {m.name: m for m in METRICS if set(m.needs) <= {"factors"} and m.name in metrics.__all__}


class MetricModule(TorchMetric):
    """A metric of disentanglement for torchmetrics, Lightning and MetricCollection.

    Codes and factors of all batches and processes are collected and scored together: none of these metrics is a mean
    over batches. The arguments of ``update`` follow the order of torchmetrics, predictions first.

    Parameters
    ----------
    name : str
        Of a function of :mod:`unbraid.metrics`, such as "mig".
    **options
        Of that function, such as ``n_bins``.

    Examples
    --------
    >>> import torch
    >>> metric = MetricModule("mcc")
    >>> for start in (0.0, 10.0):
    ...     codes = torch.arange(start, start + 10)[:, None]
    ...     metric.update(codes, -3 * codes)
    >>> metric.compute()
    tensor(1., dtype=torch.float64)
    """

    is_differentiable = False
    full_state_update = False
    codes: list[Tensor]
    factors: list[Tensor]

    def __init__(self, name: str, **options: Any):
        super().__init__()
        if name not in _OFFERED:
            raise ValueError(f"unknown metric {name!r}. Available: {', '.join(sorted(_OFFERED))}.")
        self.name, self.options = name, options
        self.add_state("codes", [], dist_reduce_fx="cat")
        self.add_state("factors", [], dist_reduce_fx="cat")

    @property  # torchmetrics does not let an instance set it
    def higher_is_better(self) -> bool:  # type: ignore[override]
        """Whether higher scores are better."""
        return _OFFERED[self.name].better == "high"

    def update(self, codes: Tensor, factors: Tensor) -> None:
        """Add a batch: codes (n, n_codes), factors (n, n_factors); integer factors are classes."""
        if len(codes) != len(factors):
            raise ValueError(
                f"received {len(codes)} codes and {len(factors)} factors; give one row of each per sample."
            )
        self.codes.append(codes.detach())
        self.factors.append(factors.detach())

    def compute(self) -> Tensor | dict[str, Tensor]:
        """The score of all batches; for metrics with several values (DCI), a dict of them."""
        if not self.codes:
            raise ValueError(f"{self.name} has received no batch; call update(codes, factors) first.")
        metric = _OFFERED[self.name]
        factors, codes = _array(self.factors), _array(self.codes)
        result = getattr(metrics, self.name)(*((factors, codes) if metric.supervised else (codes,)), **self.options)
        if not is_dataclass(result):
            return self._number(result)
        return {name: self._number(value) for name, value in vars(result).items() if isinstance(value, float)}

    def _number(self, value: Any) -> Tensor:
        kind = torch.float32 if self.device.type == "mps" else torch.float64  # Apple's has no float64
        return torch.tensor(float(value), dtype=kind, device=self.device)


def _array(batches: list[Tensor] | Tensor) -> np.ndarray:
    whole = dim_zero_cat(batches).cpu()
    return (whole.float() if whole.dtype == torch.bfloat16 else whole).numpy()
