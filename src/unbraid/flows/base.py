"""What all flow estimators share: data in, trained flow out, codes both ways."""

import os
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from unbraid.contract.parameters import InheritsParameters
from unbraid.contract.persistence import Persistent
from unbraid.contract.summary import Summary
from unbraid.flows.conditions import Condition
from unbraid.flows.families import Normal, family
from unbraid.flows.spectrum import knee
from unbraid.flows.training import Schedule, Trainer
from unbraid.networks.coupling import Affine
from unbraid.networks.flow import Flow, conv_flow, dense_flow

ARCHITECTURES = ("auto", "dense", "convolutional")
ENGINES = ("auto", "torch", "fused", "compile")
FUSED_MIN_STEPS = 200  # shorter runs are over before the kernel is loaded


class FlowEstimator(InheritsParameters, TransformerMixin, BaseEstimator, Persistent):
    """Base of the flow estimators; see :class:`~unbraid.GIN` for the parameters."""

    _kind = "gin"
    _count_by_spread = True
    _noise_share = 0.05  # of the data's std; 0.002 to 0.01 cost MCC on strongly mixed data

    def __init__(
        self,
        *,
        latent: str = "normal",
        architecture: str = "auto",
        n_blocks: int | tuple[int, int, int] | None = None,
        hidden: int | tuple[int, int, int] | None = None,
        clamp: str = "atan",
        batch_size: int = 1000,
        max_steps: int = 800,
        learning_rate: float = 1e-2,
        noise: float | str = "auto",
        n_init: int = 4,
        n_informative: int | str = "auto",
        validation_fraction: float = 0.1,
        patience: int = 5,
        tol: float = 1e-3,
        max_seconds: float | None = None,
        engine: str = "auto",
        checkpoint: str | os.PathLike | None = None,
        progress: bool | None = None,
        random_state: Any = None,
    ):
        self.latent = latent
        self.architecture = architecture
        self.n_blocks = n_blocks
        self.hidden = hidden
        self.clamp = clamp
        self.batch_size = batch_size
        self.max_steps = max_steps
        self.learning_rate = learning_rate
        self.noise = noise
        self.n_init = n_init
        self.n_informative = n_informative
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.tol = tol
        self.max_seconds = max_seconds
        self.engine = engine
        self.checkpoint = checkpoint
        self.progress = progress
        self.random_state = random_state

    @property
    def _family(self) -> Normal:
        return family(self.latent)

    def _check_parameters(self) -> None:
        family(self.latent)
        for name, allowed in (("architecture", ARCHITECTURES), ("engine", ENGINES)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}={getattr(self, name)!r} is unknown; choose one of: {', '.join(allowed)}.")
        for name in ("batch_size", "max_steps", "n_init", "patience"):
            if not (isinstance(getattr(self, name), int | np.integer) and getattr(self, name) >= 1):
                raise ValueError(f"{name}={getattr(self, name)!r} must be a whole number of at least 1.")
        if not self.learning_rate > 0:
            raise ValueError(f"learning_rate={self.learning_rate!r} must be above 0; the papers use 0.01 and 0.0003.")
        if not (self.noise == "auto" or (not isinstance(self.noise, str) and self.noise >= 0)):
            raise ValueError(f"noise={self.noise!r} must be 'auto' or a number of at least 0; the papers use 0.01.")
        if not 0 <= self.validation_fraction < 1:
            raise ValueError(f"validation_fraction={self.validation_fraction!r} must be at least 0 and below 1.")

    def _seeds(self) -> list[np.random.Generator]:
        """Independent streams for the split, the architecture, the training and what follows it."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return [np.random.default_rng([seed, i]) for i in range(4)]

    def _validate(self, X: Any, *, reset: bool) -> np.ndarray:
        """Points as (n, ...), finite, float32 or float64; images of uint8 in [0, 1]."""
        X = X if hasattr(X, "dtype") else np.asarray(X)
        divisor = 255 if getattr(X, "dtype", None) == np.uint8 and np.ndim(X) > 2 else 1
        X = validate_data(self, X, dtype=(np.float64, np.float32), allow_nd=True, reset=reset)
        if reset:
            self._shape_in = X.shape[1:]
        elif X.shape[1:] != self._shape_in:
            raise ValueError(f"X has points of shape {X.shape[1:]}, and the flow was fitted on {self._shape_in}.")
        return X / divisor if divisor != 1 else X

    def _to_rows(self, X: np.ndarray, dtype: torch.dtype | None = None) -> Tensor:
        """Points as the network takes them: (n, features) or (n, channels, height, width)."""
        rows = torch.from_numpy(np.ascontiguousarray(X))
        rows = rows.to(dtype) if dtype is not None else rows
        if len(self._shape_net) == 1:
            return rows.flatten(1)
        return rows.unsqueeze(1) if rows.ndim == 3 else rows.permute(0, 3, 1, 2)

    def _from_rows(self, rows: Tensor) -> np.ndarray:
        if len(self._shape_net) == 3:
            rows = rows.squeeze(1) if len(self._shape_in) == 2 else rows.permute(0, 2, 3, 1)
        return rows.reshape(-1, *self._shape_in).numpy()

    def _set_noise(self, X: np.ndarray) -> None:
        """The data noise in the unit of X; "auto" is a share of the overall standard deviation."""
        flat = X.reshape(len(X), -1)
        constant = int((flat.max(0) == flat.min(0)).sum())
        if self.noise == 0 and constant:
            warnings.warn(
                f"{constant} of {flat.shape[1]} features are constant and noise=0: the likelihood has no bound there, "
                "and the flow spends itself on them. Give noise='auto' or drop these features.",
                UserWarning,
                stacklevel=3,
            )
        self.noise_ = (
            self._noise_share * float((flat - flat.mean(0)).std()) if self.noise == "auto" else float(self.noise)
        )
        if self.noise == "auto" and not self.noise_ > 0:
            raise ValueError("X is constant: every point is the same, and there is nothing to learn.")

    def _build(self, rng: np.random.Generator, n_models: int) -> Flow:
        affine = Affine(self._kind, self.clamp)
        if len(self._shape_net) == 3:
            blocks: Any = (4, 4, 2) if self.n_blocks is None else self.n_blocks
            hidden: Any = (16, 32, None) if self.hidden is None else self.hidden
            return conv_flow(self._shape_net, rng, n_blocks=blocks, hidden=hidden, affine=affine, n_models=n_models)
        blocks = 8 if self.n_blocks is None else self.n_blocks
        hidden = self.hidden
        return dense_flow(self._shape_net[0], rng, n_blocks=blocks, hidden=hidden, affine=affine, n_models=n_models)

    def _choose_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Of a point for the network; images of sides divisible by 4 go to the convolutional one."""
        n_features = int(np.prod(shape))
        image = len(shape) in (2, 3)
        fits = image and shape[0] % 4 == 0 and shape[1] % 4 == 0
        if self.architecture == "convolutional" and not image:
            raise ValueError(
                f"architecture='convolutional' needs images (n, height, width) or (n, height, width, channels); points "
                f"here have shape {shape}. Use architecture='dense'."
            )
        if self.architecture == "convolutional" or (self.architecture == "auto" and fits):
            return (shape[2] if len(shape) == 3 else 1, shape[0], shape[1])
        if n_features < 2:
            raise ValueError(
                f"a coupling flow splits its features in halves and needs at least 2; X has n_features = {n_features}."
            )
        return (n_features,)

    def _forward_of(self, flow: Flow) -> Any:
        """``flow.forward``, or the faster thing that computes it."""
        from unbraid.networks import fused, fused_images

        if self.engine == "compile":
            return torch.compile(flow.forward)
        if self.engine == "torch" or (self.engine == "auto" and self.max_steps * self.n_init < FUSED_MIN_STEPS):
            return flow.forward
        if fused_images.supports(flow):
            return fused_images.FusedImages(flow)
        return fused.FusedForward(flow) if self.engine == "fused" or fused.supports(flow) else flow.forward

    def _train(
        self,
        condition: Condition,
        take: Any,
        evaluate: Any,
        flow: Flow,
        rng: np.random.Generator,
        choose: Callable[[np.ndarray, Tensor], int] | None = None,
    ) -> None:
        """Fit ``n_init`` flows at once and keep the one with the best held-out likelihood, or what ``choose`` names."""
        schedule = Schedule(
            max_steps=self.max_steps,
            learning_rate=self.learning_rate,
            noise=self.noise_,
            patience=self.patience,
            tol=self.tol,
            eval_every=max(1, min(50, self.max_steps // 8)) if len(flow.shape) == 1 else 100,
            max_seconds=self.max_seconds,
        )
        trainer = Trainer(flow, condition, take, evaluate, schedule, rng, self._forward_of(flow))
        trainer.run(self.checkpoint, self.progress)
        p = trainer.progress
        scores = np.array(evaluate(trainer.theta, trainer.extra))
        scores = np.where(np.isfinite(scores), scores, np.inf)
        best = choose(scores, trainer.theta) if choose else int(np.argmin(scores))
        self.history_ = p.history
        self.n_steps_ = p.step
        self.stopped_ = p.stopped or "max_steps"
        self.init_scores_ = -scores
        self.best_init_ = best
        self.theta_ = trainer.theta[best].numpy().copy()
        self.extra_ = trainer.extra[best].numpy().copy()
        chosen = flow.select(best)
        self.permutations_ = [
            layer.permutations[0].numpy() for layer in chosen.layers if hasattr(layer, "permutations")
        ]
        if self.stopped_.startswith("max_seconds"):
            warnings.warn(
                f"stopped after {p.step} of {self.max_steps} steps by {self.stopped_}; give checkpoint=... and fit "
                "again to go on, or raise max_seconds.",
                ConvergenceWarning,
                stacklevel=3,
            )

    @property
    def _flow(self) -> Flow:
        """The trained flow, one model, rebuilt from arrays (so that saving needs arrays only)."""
        cached = self.__dict__.get("_cached_flow")
        if cached is None:
            cached = self._build(np.random.default_rng(0), 1)
            blocks = [i for i, layer in enumerate(cached.layers) if hasattr(layer, "permutations")]
            for i, permutation in zip(blocks, self.permutations_):
                layer = cached.layers[i]
                fixed = torch.from_numpy(np.asarray(permutation))[None]
                cached.layers[i] = type(layer)(layer.features, layer.hidden, layer.affine, fixed)
            self._cached_flow = cached
        return cached

    def _get_state(self) -> dict[str, Any]:
        state = {k: v for k, v in self.__dict__.items() if k != "_cached_flow"}
        if state.get("checkpoint") is not None:
            state["checkpoint"] = os.fspath(state["checkpoint"])
        return state

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_cached_flow", None)
        return state

    def _encode(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The flow's real output in the network's own order, and log|det J|; in the precision of X."""
        rows = self._to_rows(X)
        theta = torch.from_numpy(self.theta_)[None].to(rows.dtype)
        r, volume = self._flow.encode(theta, rows, batch_size=512 if rows.ndim == 4 else 8192)
        return r[0].numpy(), volume[0].numpy()

    def _decode(self, r: np.ndarray) -> np.ndarray:
        codes = torch.from_numpy(np.ascontiguousarray(r))
        theta = torch.from_numpy(self.theta_)[None].to(codes.dtype)
        batch = 512 if len(self._shape_net) == 3 else 8192
        return self._from_rows(self._flow.decode(theta, codes[None], batch_size=batch)[0])

    def _reach(self, r: np.ndarray, residual: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """How far each latent moves the data: median over points of half the distance between -1 and +1 spread.

        The spread is half the range of the middle 68 % of ``residual``. Unlike a std, the reach does not change when
        the flow stretches one latent and shrinks another, and a few far points do not move it. Returns reach, spread.
        """
        lower, upper = np.quantile(residual, (0.1587, 0.8413), axis=0)
        spread = (upper - lower) / 2
        d = len(spread)
        points = min(len(r), max(4, 2000 // d))
        base = r[rng.choice(len(r), points, replace=False)]
        reach = np.empty(d)
        for i in range(d):
            shift = np.zeros(d, r.dtype)
            shift[i] = spread[i]
            x = self._decode(np.concatenate((base + shift, base - shift))).reshape(2, points, -1)
            reach[i] = np.median(np.linalg.norm(x[0] - x[1], axis=1)) / 2
        return reach, spread

    def _rank(self, reach: np.ndarray, spread: np.ndarray) -> None:
        """Order the latents by their importance and count the informative ones.

        The importance is the geometric mean of reach and spread where the flow keeps the volume, and the reach alone
        where it does not, as a spread says nothing there. The count is the knee of the spreads or, for
        RealNVP and self-supervised GIN, of the importance.
        """
        importance = reach if self._kind == "realnvp" else np.sqrt(reach * spread)
        self.order_ = np.argsort(-importance, kind="stable")
        self.reach_, self.importance_ = reach[self.order_], importance[self.order_]
        if isinstance(self.n_informative, str):
            if self.n_informative != "auto":
                raise ValueError(f"n_informative={self.n_informative!r} must be 'auto' or a number of latents.")
            self.n_informative_ = knee(np.sort(spread)[::-1] if self._count_by_spread else self.importance_)
        else:
            if not 1 <= self.n_informative <= len(reach):
                raise ValueError(f"n_informative={self.n_informative!r} must lie between 1 and {len(reach)}.")
            self.n_informative_ = int(self.n_informative)

    def transform(self, X: Any) -> np.ndarray:
        """Codes (n, n_features), the most important latent first.

        The first ``n_informative_`` columns are the recovered factors. Computed in the precision of X.
        """
        check_is_fitted(self, "theta_")
        X = self._validate(X, reset=False)
        r, _ = self._encode(X)
        return self._family.link(r[:, self.order_])

    def inverse_transform(self, codes: Any) -> np.ndarray:
        """Data of codes that :meth:`transform` gave, or of (n, m) codes of the first m latents, the others at their
        middle."""
        check_is_fitted(self, "theta_")
        codes = np.asarray(codes)
        codes = codes.astype(np.float64) if codes.dtype not in (np.float32, np.float64) else codes
        d = len(self.order_)
        if codes.ndim != 2 or not 1 <= codes.shape[1] <= d:
            raise ValueError(f"codes have shape {codes.shape}; give (n, m) with m from 1 to {d}.")
        if codes.shape[1] < d:
            middle = np.broadcast_to(self._middle().astype(codes.dtype), (len(codes), d)).copy()
            middle[:, : codes.shape[1]] = codes
            codes = middle
        r = np.empty_like(codes)
        r[:, self.order_] = self._family.unlink(codes)
        return self._decode(r)

    def _middle(self) -> np.ndarray:
        """A code in the middle of the data, in the order of :meth:`transform`."""
        return self.middle_

    def summary(self) -> Summary:
        """What there is to say and to show about this fitted model; pages and terminals print it."""
        check_is_fitted(self)
        from unbraid.flows.summary import summary_of

        return summary_of(self)

    @property
    def _n_features_out(self) -> int:
        return len(self.order_)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the latents: ``gin0``, ``gin1``, ..."""
        check_is_fitted(self, "theta_")
        return np.array([f"{type(self).__name__.lower()}{i}" for i in range(len(self.order_))], dtype=object)

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> np.ndarray:
        """Fit, then the codes of X."""
        return self.fit(X, y, **params).transform(X)

    def fit(self, X: Any, y: Any = None) -> Self:
        raise NotImplementedError
