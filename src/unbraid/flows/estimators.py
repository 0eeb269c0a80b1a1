"""NICE, RealNVP and GIN: flows whose latent distribution depends on a condition."""

from typing import Any, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from unbraid.flows import checks
from unbraid.flows.base import FlowEstimator
from unbraid.flows.conditions import Classes, Condition, Continuous, SoftLabels
from unbraid.flows.labels import Labels, understand
from unbraid.flows.likelihood import class_nll, class_parameters, log_densities, one_hot
from unbraid.flows.spectrum import class_information
from unbraid.networks.flow import Flow


class ConditionalFlow(FlowEstimator):
    """A flow with a condition: classes, soft labels or continuous values."""

    _needs_labels = False

    def __init__(self, *, condition: str = "auto", **settings: Any):
        super().__init__(**settings)
        self.condition = condition

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to X, (n, features) or images, given ``y``: one label, C class weights or q values a row."""
        self._check_parameters()
        X = self._validate(X, reset=True)
        labels = self._understand(y, len(X))
        kept = labels.values >= 0 if labels.kind == "classes" else np.ones(len(X), bool)
        X, values = X[kept], labels.values[kept]
        self.__dict__.pop("_cached_flow", None)
        self._shape_net = self._choose_shape(X.shape[1:])
        self._set_noise(X)
        split, architecture, training, after = self._seeds()
        flow = self._build(architecture, self.n_init)
        if labels.kind == "classes" and len(labels.classes) > 1:
            checks.warn_of_small_classes(values, labels.classes)
            checks.warn_of_gaps(X, values, labels.classes, after)
        rows = self._to_rows(X, torch.float32)
        train, held = self._split(values, labels.kind, split)
        condition = self._condition(labels.kind, values[train])
        picked = torch.from_numpy(train)

        def take(index: np.ndarray, rng: np.random.Generator) -> Tensor:
            return rows[picked[torch.from_numpy(index)]]

        evaluate = self._evaluation(flow, condition, rows, values, train, held, labels.kind, split)
        self._train(condition, take, evaluate, flow, training)
        self._describe(X, values, labels, after)
        return self

    def _understand(self, y: Any, n: int) -> Labels:
        if y is None and self._needs_labels:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: the latents are identified "
                "by a condition. Give labels, use SelfSupervisedGIN with augmentations, or RealNVP for a density alone."
            )
        labels = understand(y, n, self.condition)
        if self._needs_labels and labels.kind == "classes" and len(labels.classes) < 2:
            raise ValueError(
                f"labels hold one class only ({labels.classes.tolist()}); the latents are identified by how their "
                "distribution differs between classes. Give at least two, or use RealNVP for a density alone."
            )
        if labels.kind == "continuous" and self.latent != "normal":
            raise ValueError(f"continuous conditions have normal latents only, not latent={self.latent!r}.")
        return labels

    def _condition(self, kind: str, values: np.ndarray) -> Any:
        if kind == "classes":
            return Classes(self._family, values, self.batch_size)
        if kind == "soft":
            return SoftLabels(self._family, values, self.batch_size)
        return Continuous(self._family, values, self.batch_size, int(np.prod(self._shape_net)))

    def _split(self, values: np.ndarray, kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rows to train on and rows held out; a class keeps at least two for training."""
        groups = [np.arange(len(values))]
        if kind == "classes":
            groups = [np.flatnonzero(values == c) for c in range(values.max() + 1)]
        train, held = [], []
        for group in groups:
            n = min(round(self.validation_fraction * len(group)), max(0, len(group) - 2))
            shuffled = rng.permutation(group)
            held.append(shuffled[:n])
            train.append(shuffled[n:])
        held_out = np.concatenate(held)
        return np.concatenate(train), held_out if len(held_out) else np.concatenate(train)

    def _weights(self, values: np.ndarray, kind: str) -> Tensor:
        if kind == "classes":
            return one_hot(values, len(np.unique(values)) if not hasattr(self, "classes_") else len(self.classes_))
        return torch.from_numpy(values)

    def _evaluation(
        self,
        flow: Flow,
        condition: Condition,
        rows: Tensor,
        values: np.ndarray,
        train: np.ndarray,
        held: np.ndarray,
        kind: str,
        rng: np.random.Generator,
    ) -> Any:
        """-log-likelihood of held-out points under the statistics of training points, both with the data noise."""
        sizes = (3000, 1000) if rows.ndim == 4 else (5000, 2000)
        parts = [rng.permutation(index)[:size] for index, size in zip((train, held), sizes)]
        noisy = [
            rows[torch.from_numpy(i)]
            + self.noise_ * torch.from_numpy(rng.standard_normal((len(i), *rows.shape[1:]), dtype=np.float32))
            for i in parts
        ]
        if kind == "continuous":
            at = torch.from_numpy(values[parts[1]].T.astype(np.float32))

            def continuous(theta: Tensor, extra: Tensor) -> np.ndarray:
                r, volume = flow.encode(theta, noisy[1], batch_size=500)
                p = condition.parameters_at(at, extra)  # type: ignore[attr-defined]
                return (self._family.nll(r.transpose(1, 2), p).sum(1) - volume).mean(1).numpy()

            return continuous
        weights = one_hot(values, int(values.max()) + 1) if kind == "classes" else torch.from_numpy(values)
        fit_on, judge_on = (weights[torch.from_numpy(i)] for i in parts)

        def by_class(theta: Tensor, extra: Tensor) -> np.ndarray:
            r, _ = flow.encode(theta, noisy[0], batch_size=1000)
            p = class_parameters(self._family, r, fit_on)
            s, volume = flow.encode(theta, noisy[1], batch_size=1000)
            return (class_nll(self._family, s.double(), p, judge_on) - volume).mean(1).numpy()

        return by_class

    def _describe(self, X: np.ndarray, values: np.ndarray, labels: Labels, rng: np.random.Generator) -> None:
        """Statistics of the codes of all points (with the data noise, as in training), order, information."""
        noisy = X + (self.noise_ * rng.standard_normal(X.shape)).astype(X.dtype)
        r = self._encode(noisy)[0].astype(np.float64)
        self.classes_, self.condition_ = labels.classes, labels.kind
        self._centre, self._scale = labels.centre, labels.scale
        if labels.kind == "continuous":
            self.priors_ = np.array([])
            first, second = self._parameters_at(values)
        else:
            weights = one_hot(values, len(labels.classes)) if labels.kind == "classes" else torch.from_numpy(values)
            self.priors_ = weights.mean(0).numpy()
            p = class_parameters(self._family, torch.from_numpy(r)[None], weights)
            first, second = p[0][0].numpy(), p[1][0].numpy()
        stds = self._spread(r, values, first, labels.kind)
        centre = first if labels.kind == "continuous" else self._own_mean(r, values, labels.kind)
        self._rank(*self._reach(r.astype(X.dtype), r - centre, rng))
        self.stds_ = stds[self.order_]
        if labels.kind == "continuous":
            total = r.var(0)
            self.information_ = 0.5 * np.log(np.maximum(total / stds**2, 1))[self.order_]
            self.middle_ = np.median(r, 0)[self.order_]
            return
        self.parameters_ = np.stack((first[:, self.order_], second[:, self.order_]))
        some = rng.permutation(len(r))[:2000]
        logs = log_densities(self._family, r[some][:, self.order_], (self.parameters_[0], self.parameters_[1]))
        hard = values[some] if labels.kind == "classes" else values[some].argmax(1)
        self.information_ = class_information(logs, hard, self.priors_)
        self.middle_ = self._family.link(np.median(r, 0)[self.order_])
        checks.warn_of_few_conditions(len(self.classes_), self.n_informative_) if self._needs_labels else None

    def _spread(self, r: np.ndarray, values: np.ndarray, first: np.ndarray, kind: str) -> np.ndarray:
        """RMS over classes of the per-class std of the flow's output (GIN's spectrum); RMS residual if continuous."""
        if kind == "continuous":
            return np.sqrt(((r - first) ** 2).mean(0))
        weights = np.eye(len(self.classes_))[values] if kind == "classes" else values
        total = weights.sum(0)[:, None]
        mean = weights.T @ r / total
        var = np.stack([w @ (r - m) ** 2 for w, m in zip(weights.T, mean)]) / total
        return np.sqrt(var.mean(0))

    def _own_mean(self, r: np.ndarray, values: np.ndarray, kind: str) -> np.ndarray:
        """The mean code of each point's class."""
        weights = np.eye(len(self.classes_))[values] if kind == "classes" else values
        return weights @ (weights.T @ r / weights.sum(0)[:, None])

    def _parameters_at(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        condition = Continuous(self._family, values, 1, int(np.prod(self._shape_net)))
        extra = torch.from_numpy(self.extra_)[None]
        p = condition.parameters_at(torch.from_numpy(values.T.astype(np.float32)), extra)
        return p[0][0].T.double().numpy(), p[1][0].T.double().numpy()

    def _parameters_of(self, labels: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The latent parameters (n, d) of each row's label or condition, in the order of transform."""
        if self.condition_ == "continuous":
            values = np.asarray(labels, float).reshape(n, -1)
            first, second = self._parameters_at((values - self._centre) / self._scale)
            return first[:, self.order_], second[:, self.order_]
        number = self._class_numbers(labels, n)
        return self.parameters_[0][number], self.parameters_[1][number]

    def _class_numbers(self, labels: Any, n: int) -> np.ndarray:
        asked = np.broadcast_to(np.asarray(labels), (n,))
        number = np.searchsorted(self.classes_, asked).clip(0, len(self.classes_) - 1)
        unknown = self.classes_[number] != asked
        if unknown.any():
            raise ValueError(
                f"{asked[unknown][0]!r} is no class of this model; it has: {', '.join(map(str, self.classes_))}."
            )
        return number

    def score_samples(self, X: Any, labels: Any = None) -> np.ndarray:
        """log p(x | label), or log p(x) = log sum_u p(u) p(x | u) without labels; in nats, at the data noise."""
        check_is_fitted(self, "theta_")
        X = self._validate(X, reset=False)
        r, volume = self._encode(X)
        r = r[:, self.order_].astype(np.float64)
        if self.condition_ == "continuous" or labels is not None:
            if labels is None:
                raise ValueError(
                    "the condition of this model is continuous: score_samples needs labels, one row a point."
                )
            p = self._parameters_of(labels, len(X))
            q = (torch.from_numpy(p[0]), torch.from_numpy(p[1]))
            return -self._family.nll(torch.from_numpy(r), q).sum(1).numpy() + volume
        logs = np.stack(
            [
                -self._family.nll(torch.from_numpy(r), (torch.from_numpy(a), torch.from_numpy(b))).sum(1).numpy()
                for a, b in zip(*self.parameters_)
            ]
        )
        return np.logaddexp.reduce(logs + np.log(self.priors_)[:, None], axis=0) + volume

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood."""
        return float(self.score_samples(X, y).mean())

    def sample(
        self,
        n: int,
        label: Any = None,
        temperature: float = 1.0,
        n_informative: int | None = None,
        random_state: Any = None,
    ) -> np.ndarray:
        """n new points of a class (or condition); of classes drawn by their frequency without ``label``.

        ``temperature`` below 1 shrinks the spread; ``n_informative`` draws that many latents and keeps the others at
        the middle of the class, which leaves the noise out.
        """
        check_is_fitted(self, "theta_")
        rng = np.random.default_rng(check_random_seed(random_state))
        if label is None and self.condition_ == "continuous":
            raise ValueError("the condition of this model is continuous: sample needs label, one value or row.")
        if label is None:
            label = self.classes_[rng.choice(len(self.classes_), n, p=self.priors_)]
        elif self.condition_ == "continuous":
            label = np.broadcast_to(np.asarray(label, float), (n, len(self._centre)))
        noise = temperature * rng.standard_normal((n, len(self.order_)))
        if n_informative is not None:
            noise[:, n_informative:] = 0
        return self.inverse_transform(self._unwhiten(noise, self._parameters_of(label, n)))

    def transfer(self, X: Any, source: Any, target: Any) -> np.ndarray:
        """Change the class of points and keep their style: the whitened code of ``source`` is read in ``target``."""
        codes = self.transform(X)
        n = len(codes)
        style = self._whiten(codes.astype(np.float64), self._parameters_of(source, n))
        moved = self._unwhiten(style, self._parameters_of(target, n))
        return self.inverse_transform(moved.astype(codes.dtype))

    def _whiten(self, z: np.ndarray, p: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Standard normal values of latents: by mean and std, or through distribution functions of other families."""
        if self.latent == "normal":
            return (z - p[0]) / p[1]
        from scipy.stats import norm

        dist = self._family.distribution(p)
        lower = norm.ppf(np.clip(dist.cdf(z), 1e-300, 1))
        upper = -norm.ppf(np.clip(dist.sf(z), 1e-300, 1))
        return np.where(lower < 0, lower, upper)

    def _unwhiten(self, noise: np.ndarray, p: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        if self.latent == "normal":
            return p[0] + p[1] * noise
        from scipy.stats import norm

        dist = self._family.distribution(p)
        return np.where(noise < 0, dist.ppf(norm.cdf(noise)), dist.isf(norm.sf(noise)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_labels
        return tags


def check_random_seed(random_state: Any) -> int:
    """A seed from a scikit-learn random state."""
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))


class GIN(ConditionalFlow):
    """General incompressible-flow network: factors from data and a condition, and how many there are.

    A volume-preserving flow maps x to codes w whose distribution given the condition u is factorial, and maximises
    the likelihood (Eq. 10 to 12), E[sum_i (w_i - mu_i(u))^2 / (2 sigma_i(u)^2) + log sigma_i(u)]. With enough
    conditions the codes are the true factors, each up to scale and shift, and codes beyond them carry noise only. Use
    it when every point has a label (a class, posterior class weights, or continuous values) and the label changes the
    distribution of the factors but not how they make the data.

    Parameters
    ----------
    condition : {"auto", "classes", "soft", "continuous"}
        How to read ``labels``: whole numbers and strings are classes, rows that sum to 1 soft labels, other floats
        continuous conditions, for which a small network gives mu(u) and sigma(u).
    latent : {"normal", "lognormal", "inverse-gaussian", "gamma", "inverse-gamma", "beta"}
        The family of the latents (Table 1); :meth:`transform` then gives codes in its support.
    architecture : {"auto", "dense", "convolutional"}
        Images with sides divisible by 4 go to the convolutional network, all else to the fully connected one.
    n_blocks, hidden : int, or three ints for the convolutional network
        Blocks and sub-network widths; the papers' by default (8 blocks; 4, 4, 2 for images).
    clamp : {"atan", "steep-atan", "tanh"}
        How the log-scales are bounded; the authors' by default.
    batch_size : int
        Points a step, the same number of each class.
    max_steps, learning_rate, patience, tol :
        Steps of Adam; the rate drops to a tenth, and then the training ends, once the held-out likelihood has not
        risen by ``tol`` nats per feature in ``patience`` evaluations (every 50 steps; 100 on images). The drop comes
        at 5/8 of ``max_steps`` at the latest. The default rate suits small flows; images want 3e-4 to 1e-3.
    noise : float or "auto"
        Standard deviation of the normal noise added to the data in every step, in the unit of X; "auto" is 5 % of the
        overall standard deviation of X (0.015 on MNIST; the papers have 0.01 everywhere). It floors the standard
        deviations of the codes, so constant features (the border of MNIST) do no harm. Factors that move the data
        less than the noise are lost in it: lower it to find them.
    n_init : int
        Flows trained at once from different starts; the best by held-out likelihood is kept.
    n_informative : int or "auto"
        "auto" counts the latents that stand out of the data noise
        (:func:`~unbraid.flows.spectrum.count_above_noise`), and warns where the count is uncertain.
    validation_fraction : float
        Share of each class that is held out.
    max_seconds : float, optional
        Ends the training; with ``checkpoint``, another fit goes on from there.
    engine : {"auto", "torch", "fused", "compile"}
        "auto" takes the fused kernels for small fully connected and for convolutional flows (numba builds them once,
        then keeps them) and torch for the rest. "compile" is ``torch.compile``: it needs a C compiler and a minute or
        more before the first step.
    checkpoint : path, optional
        A file that the run writes at each evaluation, and from which the same fit goes on exactly.
    progress : bool, optional
        Show a bar; by default on a terminal.
    random_state : int, RandomState or None

    Attributes
    ----------
    n_informative_ : int
        Latents that matter; the first columns of :meth:`transform`.
    n_informative_interval_ : (int, int)
        The counts that the spectrum allows.
    above_noise_ : array (n_features,)
        The spread of each latent over all points, over the one that the data noise alone gives it: near 1 where it
        carries only noise.
    importance_ : array (n_features,)
        What latents are ordered by, decreasing: the geometric mean of reach and spread (RealNVP: the reach), where
        the spread is half the range of the middle 68 % of a latent around its class mean.
    reach_ : array (n_features,)
        How far a latent moves the data: median of half the distance between -1 and +1 spread.
    stds_ : array (n_features,)
        The spectrum: RMS over classes of the per-class std. Alone it is not identified, as the flow may stretch one
        latent and shrink another; ``reach_`` does not change then.
    information_ : array (n_features,)
        Mutual information of each latent and the class, in nats.
    parameters_ : array (2, n_classes, n_features)
        Of the latent family, by class (mean and std if normal).
    classes_, priors_ : arrays (n_classes,)
    init_scores_ : array (n_init,)
        Held-out log-likelihood of each start.
    history_ : list of dict
        Loss and held-out -log-likelihood at each evaluation.
    n_steps_, stopped_ :
        Steps taken, and why they ended.

    References
    ----------
    Sorrenson, Rother and Koethe (2020), Disentanglement by nonlinear ICA with general incompressible-flow networks.

    Examples
    --------
    >>> import numpy as np, unbraid as ub
    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(300) % 3
    >>> X = rng.normal(size=(300, 4)) * [1, 0.5, 0.01, 0.01] + labels[:, None] * [1, 0.5, 0, 0]
    >>> import warnings; warnings.simplefilter("ignore")
    >>> model = ub.GIN(max_steps=30, n_init=1, random_state=0).fit(X, labels)
    >>> codes = model.transform(X)
    >>> bool(np.allclose(model.inverse_transform(codes), X))
    True
    """

    _kind = "gin"
    _needs_labels = True


class RealNVP(ConditionalFlow):
    """Affine couplings that may change the volume: log p(x|u) = log p(w|u) + log|det dw/dx|.

    The density of x, of each class if labels are given. Latents are as identifiable as GIN's, but a standard
    deviation no longer says how much a latent matters (``reach_`` still does). Parameters and attributes are those
    of :class:`GIN`; labels may be left out.

    References
    ----------
    Dinh, Sohl-Dickstein and Bengio (2016), Density estimation using Real NVP, Eq. 7 and 8.

    Examples
    --------
    >>> import numpy as np, unbraid as ub
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = ub.RealNVP(max_steps=20, n_init=1, random_state=0).fit(X)
    >>> model.score_samples(X).shape
    (200,)
    """

    _kind = "realnvp"


class NICE(ConditionalFlow):
    """Additive couplings: the volume is kept, and no latent is stretched.

    The simplest flow; use it as a baseline for :class:`GIN`, whose parameters and attributes it shares. Labels may be
    left out.

    References
    ----------
    Dinh, Krueger and Bengio (2014), NICE: Non-linear independent components estimation.

    Examples
    --------
    >>> import numpy as np, unbraid as ub
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = ub.NICE(max_steps=20, n_init=1, random_state=0).fit(X)
    >>> bool(np.allclose(model.inverse_transform(model.transform(X)), X))
    True
    """

    _kind = "nice"
