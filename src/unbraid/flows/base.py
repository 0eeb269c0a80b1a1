"""What all flow estimators share: parameters, the way to a trained flow, codes of data, and data of codes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from unbraid.data.rows import Rows, checksum
from unbraid.estimator.parameters import COUNT, COUNT_OR_AUTO, Hint, Number
from unbraid.estimator.summary import Summary
from unbraid.export.graphs import Graphs
from unbraid.flows.conditions import Condition
from unbraid.flows.families import Normal, family
from unbraid.flows.graphs import DecoderGraph, EncoderGraph, example_rows
from unbraid.flows.spectrum import count_above_noise, warn_of_uncertain_count
from unbraid.flows.stages import PartTrainer, Stages, SurfaceTrainer
from unbraid.flows.summary import summary_of
from unbraid.flows.training import ConditionBatches, FlowSchedule, FlowTrainer
from unbraid.networks.coupling import CLAMPS, SCALES, Affine
from unbraid.networks.flow import Flow, conv_flow, dense_flow
from unbraid.networks.layout import as_images, as_rows
from unbraid.networks.unfolding import part_flow, surface_flow, with_part
from unbraid.training.estimator import TrainedEstimator, check_spread
from unbraid.trust.warnings import warn

ARCHITECTURES = ("auto", "dense", "convolutional")
ENGINES = ("auto", "torch", "fused", "compile")
FUSED_MIN_STEPS = 200  # shorter runs are over before the kernel is loaded


class FlowEstimator(TrainedEstimator):
    """Base of the flow estimators; see :class:`~unbraid.GIN` for the parameters."""

    _kind = "gin"
    latent: str = "normal"
    middle_: np.ndarray
    n_unfolded_ = 0
    _parameter_constraints = {
        "architecture": ARCHITECTURES,
        "n_blocks": (*COUNT, tuple, list, None),
        "hidden": (*COUNT, tuple, list, None),
        "clamp": tuple(CLAMPS),
        "scale": tuple(SCALES),
        "noise": (Number(0), "auto", Hint("The papers use 0.01.")),
        "n_init": COUNT,
        "n_factors": COUNT_OR_AUTO,
        "validation_fraction": (Number(0, below=1),),
        "patience": COUNT,
        "tol": (Number(),),
        "betas": (tuple, list, Hint("Adam's usual pair is (0.9, 0.999).")),
        "drop": (Number(0, 1), Hint("The papers drop the rate at epoch 50 of 80: 0.625.")),
        "engine": ENGINES,
        "precision": ("float32", Hint("In less, flows lose the digits of small variances.")),
    }
    _not_identity = TrainedEstimator._not_identity | {"engine", "n_factors"}

    def __init__(
        self,
        *,
        architecture: str = "auto",
        n_blocks: int | tuple[int, int, int] | None = None,
        hidden: int | tuple[int, int, int] | None = None,
        clamp: str = "atan",
        scale: str = "mean",
        noise: float | str = "auto",
        n_init: int = 4,
        n_factors: int | str = "auto",
        validation_fraction: float = 0.1,
        patience: int = 5,
        tol: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.99),
        drop: float = 0.625,
        engine: str = "auto",
        batch_size: int = 1000,
        max_steps: int = 800,
        learning_rate: float = 1e-2,
        checkpoint_every: int = 100,
        **settings: Any,
    ):
        super().__init__(
            batch_size=batch_size,
            max_steps=max_steps,
            learning_rate=learning_rate,
            checkpoint_every=checkpoint_every,
            **settings,
        )
        self.architecture = architecture
        self.n_blocks = n_blocks
        self.hidden = hidden
        self.clamp = clamp
        self.scale = scale
        self.noise = noise
        self.n_init = n_init
        self.n_factors = n_factors
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.tol = tol
        self.betas = betas
        self.drop = drop
        self.engine = engine

    @property
    def _family(self) -> Normal:
        return family(self.latent)

    @property
    def _network_shape(self) -> tuple[int, ...]:
        """Of a point for the network; images of sides divisible by 4 go to the convolutional one."""
        shape = self._seen_shape
        n_features = int(np.prod(shape))
        image = len(shape) in (2, 3)
        fits = image and shape[0] % 4 == 0 and shape[1] % 4 == 0
        if self.architecture == "convolutional" and not image:
            raise ValueError(
                f"architecture='convolutional' needs images (n, height, width) or (n, height, width, channels); rows "
                f"of X have shape {shape}. Use architecture='dense'."
            )
        if self.architecture == "convolutional" or (self.architecture == "auto" and fits):
            return (shape[2] if len(shape) == 3 else 1, shape[0], shape[1])
        if n_features < 2:
            raise ValueError(
                "a coupling flow splits the features that vary in two and needs at least 2; X has "
                f"n_features = {n_features}."
            )
        return (n_features,)

    @property
    def _sizes(self) -> dict[str, Any]:
        """Those of the parameters ``n_blocks`` and ``hidden`` that are given."""
        sizes: dict[str, Any] = {}
        shape = self._network_shape
        for name in ("n_blocks", "hidden"):
            value = getattr(self, name)
            if value is None:
                continue
            many, image = isinstance(value, tuple | list), len(shape) == 3
            if many != image or (many and len(value) != 3):
                wanted = "three whole numbers" if image else "a whole number"
                raise ValueError(f"{name}={value!r} must be {wanted} for a network of rows of shape {shape}.")
            sizes[name] = value
        return sizes

    def _build(self, rng: np.random.Generator, n_models: int) -> Flow:
        shape, affine, sizes = self._network_shape, Affine(self._kind, self.clamp, scale=self.scale), self._sizes
        if self.n_unfolded_:
            hidden = 2 * sizes.get("hidden", 32)
            return surface_flow(shape[0], self.n_unfolded_, hidden=hidden, n_models=n_models)
        if len(shape) == 3:
            return conv_flow(shape, rng, affine=affine, n_models=n_models, **sizes)
        return dense_flow(shape[0], rng, affine=affine, n_models=n_models, **sizes)

    def _build_part(self, n_models: int) -> Flow:
        """The second part of an unfolding flow."""
        affine = Affine("realnvp", self.clamp)
        return part_flow(self.n_unfolded_, affine=affine, n_models=n_models, **self._sizes)

    def _rebuilt(self) -> Flow:
        fixed = [torch.from_numpy(np.asarray(p))[None] for p in self.permutations_]
        flow = self._build(np.random.default_rng(0), 1)
        first = len(flow.permutations)
        flow = flow.with_permutations(fixed[:first])
        return with_part(flow, self._build_part(1)) if len(fixed) > first else flow

    def _to_network(self, X: np.ndarray, dtype: torch.dtype | None = None) -> Tensor:
        """Rows as the network takes them: (n, features) or (n, channels, height, width)."""
        rows = torch.from_numpy(np.ascontiguousarray(X))
        rows = rows.to(dtype) if dtype is not None else rows
        return rows.flatten(1) if len(self._network_shape) == 1 else as_images(rows, rows.shape[1:])

    def _encode(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The flow's real output in the network's own order, and log|det J|; in the precision of X."""
        rows = self._to_network(X)
        theta = torch.from_numpy(self.theta_)[None].to(rows.dtype)
        r, volume = self._network.encode(theta, rows, batch_size=512 if rows.ndim == 4 else 8192)
        return r[0].numpy(), volume[0].numpy()

    def _decode(self, r: np.ndarray) -> np.ndarray:
        """Rows (n, *row_shape_) of the flow's real output."""
        codes = torch.from_numpy(np.ascontiguousarray(r))
        theta = torch.from_numpy(self.theta_)[None].to(codes.dtype)
        batch_size = 512 if len(self._network_shape) == 3 else 8192
        rows = self._network.decode(theta, codes[None], batch_size=batch_size)[0]
        return as_rows(rows, self._seen_shape).numpy()

    def _codes_of(self, rows: Rows) -> np.ndarray:
        return np.concatenate([self._family.link(self._encode(block)[0][:, self.order_]) for block in rows])

    def inverse_transform(self, codes: Any) -> np.ndarray:
        """Decode codes of :meth:`transform`, or (n, m) codes of the first m latents the others at their medians."""
        check_is_fitted(self, "theta_")
        codes, d = np.asarray(codes), len(self.order_)
        if codes.ndim != 2 or not 1 <= codes.shape[1] <= d:
            raise ValueError(f"codes have shape {codes.shape}; they must be (n, m) with m from 1 to {d}.")
        codes = self._check_codes(codes, codes.shape[1])
        if codes.shape[1] < d:
            middle = np.tile(self.middle_.astype(codes.dtype), (len(codes), 1))
            middle[:, : codes.shape[1]] = codes
            codes = middle
        r = np.empty_like(codes)
        r[:, self.order_] = self._family.unlink(codes)
        return self._decoded(self._decode(r))

    def _graphs(self) -> Graphs:
        return Graphs(EncoderGraph(self), DecoderGraph(self), example_rows(self))

    @property
    def _n_features_out(self) -> int:
        return len(self.order_)

    def _streams(self, seed: int) -> list[np.random.Generator]:
        """Independent streams for the split, the architecture, the training and what follows it."""
        return [np.random.default_rng([seed, i]) for i in range(4)]

    @property
    def _noise_share(self) -> float:
        """Of the data's std; 0.002 to 0.01 from the first step on cost MCC on strongly mixed data."""
        return 0.01 if self.n_unfolded_ else 0.05

    def _set_noise(self, X: np.ndarray) -> None:
        """The data noise in the unit of X; "auto" is a share of the overall standard deviation."""
        flat = X.reshape(len(X), -1)
        constant = int((flat.max(0) == flat.min(0)).sum())
        if self.noise == 0 and constant:
            warn("UB302", stacklevel=3, count=constant, of=flat.shape[1])
        spread = float((flat - flat.mean(0)).std()) if constant < flat.shape[1] else 0.0
        check_spread(spread)
        self.noise_ = self._noise_share * spread if self.noise == "auto" else float(self.noise)

    def _noisy(self, rows: Tensor, rng: np.random.Generator, noise: float | None = None) -> Tensor:
        """Rows with noise, that of the data unless another is given."""
        noise = self.noise_ if noise is None else noise
        return rows + noise * torch.from_numpy(rng.standard_normal(tuple(rows.shape), dtype=np.float32))

    def _forward_of(self, flow: Flow, device: torch.device) -> Any:
        """``flow.forward``, or the faster thing that computes it; the fused kernels run on CPUs."""
        from unbraid.networks import fused, fused_images

        if self.engine == "fused" and device.type != "cpu":
            raise ValueError(f"engine='fused' runs on the CPU only, but device is {str(device)!r}. Use engine='auto'.")
        if self.engine == "compile":
            return torch.compile(flow.forward)
        short = self.max_steps * self.n_init < FUSED_MIN_STEPS
        if self.engine == "torch" or device.type != "cpu" or (self.engine == "auto" and short):
            return flow.forward
        if fused_images.supports(flow):
            return fused_images.FusedImages(flow)
        return fused.FusedForward(flow) if self.engine == "fused" or fused.supports(flow) else flow.forward

    def _train(
        self,
        condition: Condition,
        take: Callable[[np.ndarray, np.random.Generator], Tensor],
        evaluate: Callable[[Tensor, Tensor], np.ndarray],
        flow: Flow,
        rng: np.random.Generator,
        identity: dict[str, Any],
        choose: Callable[[np.ndarray, Tensor, Flow], int] | None = None,
        begin: Callable[[FlowTrainer], PartTrainer] | None = None,
    ) -> FlowTrainer:
        """Fit ``n_init`` flows at once and keep the one with the best held-out likelihood, or what ``choose`` names.

        ``begin`` makes the trainer of a second part (:class:`~unbraid.flows.stages.Stages`).
        """
        device = self._device()
        schedule = self._schedule(flow)
        placed = flow.to(device.torch_device)
        forward = self._forward_of(placed, device.torch_device)
        falls = int(self.drop * self.max_steps) if begin else 0
        source = ConditionBatches(condition, take, self.noise_, rng, device, falls)
        kind = SurfaceTrainer if begin else FlowTrainer
        trainer = kind(placed, source, evaluate, schedule, forward, device)
        if begin is None:
            self._run(trainer, device, self.max_steps, identity)
        else:
            stages = Stages(trainer, begin)
            self._run(stages, device, 2 * self.max_steps, identity)
            trainer = stages.second or trainer
        self._keep(trainer, choose)
        return trainer

    def _keep(self, trainer: FlowTrainer, choose: Callable[[np.ndarray, Tensor, Flow], int] | None = None) -> None:
        """Keep the best of the starts as they are now."""
        scores = np.array(trainer.evaluate(trainer.theta, trainer.extra))
        scores = np.where(np.isfinite(scores), scores, np.inf)
        theta = trainer.whole_theta.cpu()
        best = choose(scores, theta, trainer.whole) if choose else int(np.argmin(scores))
        self.init_scores_ = -scores
        self.best_init_ = best
        self.theta_ = theta[best].numpy().copy()
        self.extra_ = trainer.extra[best].cpu().numpy().copy()
        self.permutations_ = [p[best].cpu().numpy() for p in trainer.whole.permutations]
        self.__dict__.pop("_cached", None)

    def _schedule(self, flow: Flow) -> FlowSchedule:
        return FlowSchedule(
            max_steps=self.max_steps,
            batch_size=self.batch_size,
            log_every=self.log_every,
            learning_rate=self.learning_rate,
            patience=self.patience,
            tol=self.tol,
            eval_every=self._eval_every(len(flow.shape) > 1),
            betas=(self.betas[0], self.betas[1]),
            drop=self.drop,
            decay="cosine" if self.n_unfolded_ else "constant",
        )

    def _eval_every(self, images: bool) -> int:
        """Steps between evaluations; those of images cost tens of steps, so there are at most a hundred."""
        return max(100, self.max_steps // 100) if images else max(1, min(50, self.max_steps // 8))

    def _summary(self) -> Summary:
        return summary_of(self)

    def _flow_identity(self, seed: int, rows: Rows, flow: Flow, **more: Any) -> dict[str, Any]:
        """That of the run, with the shape and the permutations of the network."""
        order = checksum(torch.cat([p.flatten() for p in flow.permutations]).numpy())
        network = f"{flow.n_models} x {flow.n_parameters} parameters, permutations {order:08x}"
        return self._identity(seed, rows, network=network, **more)

    def _reach(self, r: np.ndarray, residual: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """How far each latent moves the data: median over points of half the distance between -1 and +1 spread.

        The spread is half the range of the middle 68 % of ``residual``. Unlike a std, the reach does not change when
        the flow stretches one latent and shrinks another, and a few far points do not move it. Returns reach, spread,
        and the spread over the noise.
        """
        spread = _half_range(residual)
        d = len(spread)
        points = min(len(r), max(4, 2000 // d))
        base = r[rng.choice(len(r), points, replace=False)]
        reach = np.empty(d)
        for i in range(d):
            shift = np.zeros(d, r.dtype)
            shift[i] = spread[i]
            x = self._decode(np.concatenate((base + shift, base - shift))).reshape(2, points, -1).astype(np.float64)
            reach[i] = np.median(np.linalg.norm(x[0] - x[1], axis=1)) / 2
        return reach, spread, self._above_noise(r, rng.spawn(1)[0])

    def _above_noise(self, r: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The spread of each latent over all points, over its spread when only the data noise moves it.

        Without data noise, noise of 1 % of the data's std takes its place.
        """
        base = r[rng.choice(len(r), min(len(r), 1000), replace=False)]
        X = self._decode(base)
        noise = self.noise_ or 0.01 * float((X - X.mean(0)).std())
        moved = self._encode(X + (noise * rng.standard_normal(X.shape)).astype(X.dtype))[0]
        return _half_range(r) / np.maximum(_half_range(moved.astype(np.float64) - base), 1e-300)

    def _rank(self, reach: np.ndarray, spread: np.ndarray, above_noise: np.ndarray) -> None:
        """Order the latents by their importance and count the informative ones.

        The importance is the geometric mean of reach and spread where the flow keeps the volume, and the reach alone
        where it does not, as a spread says nothing there. The count goes by the spread over the noise, a ratio that no
        stretching of a latent changes.
        """
        importance = reach if self._kind == "realnvp" else np.sqrt(reach * spread)
        self.order_ = np.argsort(-importance, kind="stable")
        self.reach_, self.importance_ = reach[self.order_], importance[self.order_]
        self.above_noise_ = above_noise[self.order_]
        count = count_above_noise(self.above_noise_)
        self.n_informative_interval_ = (count.low, count.high)
        self.n_informative_drop_ = count.drop
        self.n_above_noise_ = count.above
        if isinstance(self.n_factors, str):
            self.n_informative_ = count.n
            warn_of_uncertain_count(count, len(reach), self.noise_)
        else:
            if not 1 <= self.n_factors <= len(reach):
                raise ValueError(f"n_factors={self.n_factors!r} must lie between 1 and {len(reach)}.")
            self.n_informative_ = int(self.n_factors)


def _half_range(values: np.ndarray) -> np.ndarray:
    """Half the range of the middle 68 % of each column: one standard deviation if it is normal."""
    lower, upper = np.quantile(values, (0.1587, 0.8413), axis=0)
    return (upper - lower) / 2
