"""The way from data and a condition to a trained flow: classes, soft labels or continuous values."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from unbraid.data.labels import CONDITIONS, Labels, parse_condition, parse_labels, warn_of_few_conditions
from unbraid.estimator.summary import Summary
from unbraid.flows import checks
from unbraid.flows.conditions import Classes, Condition, Continuous, SoftLabels
from unbraid.flows.density import Density
from unbraid.flows.families import FAMILIES, class_nll, class_parameters, log_densities, one_hot
from unbraid.flows.leftover import MOST_CODES, leftover, warn_of_leftover
from unbraid.flows.spectrum import (
    agreement,
    class_information,
    found_again,
    warn_of_disagreement,
)
from unbraid.flows.stages import PartTrainer
from unbraid.flows.summary import sampled
from unbraid.flows.training import ConditionBatches, FlowTrainer, encode_on_device
from unbraid.manifold.dimension import estimate_dimension
from unbraid.methods import method_of_class
from unbraid.networks.flow import Flow
from unbraid.networks.unfolding import off_surface, principal_frame
from unbraid.trust.warnings import warn

TIE = 0.1  # nats per point: what 2,000 held-out points cannot tell apart
PART_TIE = 0.01  # the same for the codes on a surface alone
COMPARED = 1000  # held-out points whose codes are compared from start to start
PART_NOISE = 0.03  # of the informative codes' std, when they are unfolded
MOST_IMAGES = 8000  # whose codes are described; each takes some milliseconds


class ConditionalFlow(Density):
    """A flow with a condition: classes, soft labels or continuous values."""

    _parameter_constraints = {"condition": CONDITIONS, "latent": tuple(FAMILIES)}

    def __init__(self, *, condition: str = "auto", latent: str = "normal", **settings: Any):
        super().__init__(**settings)
        self.condition = condition
        self.latent = latent

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to X, (n, features) or images, given ``y``: one label, C class weights or q values per row."""
        known = self._observed(X, y)
        given = self._read(known)
        labels = self._parsed(known.labels, len(given))
        X = given.array()
        checks.refuse_large_offsets(X)
        kept = labels.values >= 0 if labels.kind == "classes" else np.ones(len(X), bool)
        X, values = X[kept], labels.values[kept]
        seed = self._seed()
        split, architecture, training, after = self._streams(seed)
        self.n_unfolded_ = self._count_on_surface(X, labels)
        flow = self._build(architecture, self.n_init)
        if self.n_unfolded_:
            flow.layers[0].start = principal_frame(X.reshape(len(X), -1))
        self._set_noise(X)
        if labels.kind == "classes" and len(labels.classes) > 1:
            checks.warn_of_small_classes(values, labels.classes)
            checks.warn_of_gaps(X, values, labels.classes, after)
        rows = self._to_network(X, torch.float32)
        train, held = self._split(values, labels.kind, split)
        condition = self._condition(labels.kind, values[train])
        picked = torch.from_numpy(train)

        def take(index: np.ndarray, rng: np.random.Generator) -> Tensor:
            return rows[picked[torch.from_numpy(index)]]

        def begin(first: FlowTrainer) -> PartTrainer:
            self._keep(first)
            return self._second_part(first, rows, values, labels, (train, held), np.random.default_rng([seed, 4]))

        if self.n_unfolded_:
            evaluate = self._distance(flow, rows, held, split)
        else:
            evaluate = self._evaluation(flow, condition, rows, values, (train, held), labels, split)
        identity = self._flow_identity(seed, given, flow)
        choose = self._chooser(rows[torch.from_numpy(held[:COMPARED])])
        self._train(condition, take, evaluate, flow, training, identity, choose, begin if self.n_unfolded_ else None)
        self._describe(X, values, labels, after)
        return self

    def _count_on_surface(self, X: np.ndarray, labels: Labels) -> int:
        """How many codes an unfolding flow has on its surface: the factors, or the dimension of the data; else 0."""
        if self.architecture != "unfolding":
            return 0
        if labels.kind == "continuous":
            raise ValueError("architecture='unfolding' needs classes or soft labels. Use architecture='auto'.")
        d = int(np.prod(X.shape[1:]))
        k = estimate_dimension(X, max_dim=d).dim if isinstance(self.n_factors, str) else int(self.n_factors)
        if 2 <= k < d:
            return k
        warn("UB223", stacklevel=3, dimension=k, of=d)
        return 0

    def _distance(self, flow: Flow, rows: Tensor, held: np.ndarray, rng: np.random.Generator) -> Any:
        """How far held-out points are from the surface."""
        noisy = self._noisy(rows[torch.from_numpy(rng.permutation(held)[:2000])], rng)

        def distance(theta: Tensor, extra: Tensor) -> np.ndarray:
            there = flow.to(theta.device)
            with torch.no_grad():
                return off_surface(there, theta, there.lay_out(noisy.to(theta.device))).cpu().numpy()

        return distance

    def _second_part(
        self, first: FlowTrainer, rows: Tensor, values: np.ndarray, labels: Labels,
        split: tuple[np.ndarray, np.ndarray], rng: np.random.Generator,
    ) -> PartTrainer:  # fmt: skip
        """Trains ``n_init`` flows of the codes on the surface alone; the rest takes up the change of volume.

        The codes that carry noise only are steep walls: a common step of Adam cannot be both small enough for them and
        large enough to reshape the others. After this nothing that moves the codes on the surface can hit a wall.
        """
        best = self.best_init_
        flow, theta = first.whole.select(best), first.theta[best : best + 1]
        codes = encode_on_device(flow, theta, rows)[0][0][:, : self.n_unfolded_].contiguous()
        noise = PART_NOISE * float((codes - codes.mean(0)).square().mean().sqrt())
        part = self._build_part(self.n_init).to(first.device.torch_device)
        condition, picked = self._condition(labels.kind, values[split[0]]), torch.from_numpy(split[0])
        source = ConditionBatches(
            condition, lambda index, _: codes[picked[torch.from_numpy(index)]], noise, rng, first.device
        )
        evaluate = self._evaluation(part, condition, codes, values, split, labels, rng, noise)
        schedule = self._schedule(part)
        return PartTrainer(flow, theta, part, source, evaluate, schedule, part.forward, first.device)

    def _chooser(self, rows: Tensor) -> Any:
        """Of starts as likely as the best, the one whose codes agree most with the others; sets ``found_again_``.

        Where classes hardly touch, a wrong start is as likely as a right one, but each is wrong in its own way.
        """

        def choose(scores: np.ndarray, theta: Tensor, flow: Flow) -> int:
            tie = PART_TIE if self.n_unfolded_ else TIE
            ties = np.flatnonzero(scores <= scores.min() + tie)
            if len(ties) == 1:
                self.found_again_ = np.full(flow.n_features, np.nan)
                return int(ties[0])
            codes = flow.select(*ties).encode(theta[ties], rows, batch_size=1000)[0].double().numpy()
            kept = int(np.argmax(agreement(codes))) if len(ties) > 2 else int(np.argmin(scores[ties]))
            self.found_again_ = found_again(codes, kept)
            return int(ties[kept])

        return choose

    @property
    def _needs_labels(self) -> bool:
        method = method_of_class(type(self))
        return method is not None and "labels" in method.needs

    def _parsed(self, y: Any, n: int) -> Labels:
        if self._needs_labels or y is not None:
            labels = parse_condition(type(self).__name__, y, n, self.condition)
        else:
            labels = parse_labels(y, n, self.condition)
        if labels.kind == "continuous" and self.latent != "normal":
            raise ValueError(f"continuous conditions support latent='normal' only, got latent={self.latent!r}.")
        return labels

    def _condition(self, kind: str, values: np.ndarray) -> Any:
        if kind == "classes":
            return Classes(self._family, values, self.batch_size)
        if kind == "soft":
            return SoftLabels(self._family, values, self.batch_size)
        return Continuous(self._family, values, self.batch_size, int(np.prod(self._seen_shape)))

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

    def _evaluation(
        self, flow: Flow, condition: Condition, rows: Tensor, values: np.ndarray, split: tuple[np.ndarray, np.ndarray],
        labels: Labels, rng: np.random.Generator, noise: float | None = None,
    ) -> Any:  # fmt: skip
        """-log-likelihood of held-out points under the statistics of training points, both with the data noise."""
        sizes = (3000, 1000) if rows.ndim == 4 else (5000, 2000)
        parts = [rng.permutation(index)[:size] for index, size in zip(split, sizes)]
        noisy = [self._noisy(rows[torch.from_numpy(i)], rng, noise) for i in parts]
        if labels.kind == "continuous":
            at = torch.from_numpy(values[parts[1]].T.astype(np.float32))

            def continuous(theta: Tensor, extra: Tensor) -> np.ndarray:
                r, volume = encode_on_device(flow, theta, noisy[1], 500)
                p = condition.parameters_at(at, extra.cpu())  # type: ignore[attr-defined]
                return (self._family.nll(r.transpose(1, 2), p).sum(1) - volume).mean(1).numpy()

            return continuous
        weights = _class_weights(values, labels)
        fit_on, judge_on = (weights[torch.from_numpy(i)] for i in parts)

        def by_class(theta: Tensor, extra: Tensor) -> np.ndarray:
            r, _ = encode_on_device(flow, theta, noisy[0])
            p = class_parameters(self._family, r, fit_on)
            s, volume = encode_on_device(flow, theta, noisy[1])
            return (class_nll(self._family, s.double(), p, judge_on) - volume).mean(1).numpy()

        return by_class

    def _describe(self, X: np.ndarray, values: np.ndarray, labels: Labels, rng: np.random.Generator) -> None:
        """Statistics of the codes of all points (of 8,000 images) with the data noise; order, information."""
        continuous = labels.kind == "continuous"
        self.classes_, self.condition_ = labels.classes, labels.kind
        self._centre, self._scale = labels.centre, labels.scale
        self.priors_ = np.array([]) if continuous else _class_weights(values, labels).mean(0).numpy()
        if len(self._network_shape) == 3 and len(X) > MOST_IMAGES:
            some = _some_of(values, labels.kind, rng)
            X, values = X[some], values[some]
        noisy = X + (self.noise_ * rng.standard_normal(X.shape)).astype(X.dtype)
        r = self._encode(noisy)[0].astype(np.float64)
        if continuous:
            centre = self._parameters_at(values)[0]
            stds = np.sqrt(((r - centre) ** 2).mean(0))
        else:
            weights = _class_weights(values, labels)
            centre, stds = _within_classes(r, weights.numpy())
        self._rank(*self._reach(r.astype(X.dtype), r - centre, rng))
        self.stds_, self.found_again_ = stds[self.order_], self.found_again_[self.order_]
        if continuous:
            self.information_ = 0.5 * np.log(np.maximum(r.var(0) / stds**2, 1))[self.order_]
            self.middle_ = np.median(r, 0)[self.order_]
            return
        p = class_parameters(self._family, torch.from_numpy(r)[None], weights)
        self.parameters_ = np.stack([q[0].numpy()[:, self.order_] for q in p])
        some = rng.permutation(len(r))[:2000]
        logs = log_densities(self._family, r[some][:, self.order_], (self.parameters_[0], self.parameters_[1]))
        self.information_ = class_information(logs, weights[some].argmax(1).numpy(), self.priors_)
        self.middle_ = self._family.link(np.median(r, 0)[self.order_])
        self.leftover_ = float("nan")
        if labels.kind == "classes" and self.latent == "normal":
            self.leftover_ = leftover(r[:, self.order_[: min(self.n_informative_, MOST_CODES)]], values)
        if self._needs_labels:
            warn_of_leftover(self.leftover_)
            warn_of_disagreement(self.found_again_, self.n_informative_)
        if len(self.classes_) > 1:  # one class stands for no labels
            warn_of_few_conditions(len(self.classes_), self.n_informative_)

    def _summary(self) -> Summary:
        shown = super()._summary()
        if self.condition_ == "continuous":
            return shown
        return replace(shown, sections=[shown.sections[0], sampled(self), *shown.sections[1:]])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_labels
        return tags


def _class_weights(values: np.ndarray, labels: Labels) -> Tensor:
    """Of each row, (n, n_classes): 0 and 1 for hard labels."""
    return one_hot(values, len(labels.classes)) if labels.kind == "classes" else torch.from_numpy(values)


def _within_classes(r: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean code of each point's class, (n, d), and the RMS over classes of the std in a class (GIN's spectrum)."""
    total = weights.sum(0)[:, None]
    means = weights.T @ r / total
    variances = np.stack([w @ (r - m) ** 2 for w, m in zip(weights.T, means)]) / total
    return weights @ means, np.sqrt(variances.mean(0))


def _some_of(values: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """About 8,000 rows; a class that would have fewer than 200 of them has 200, or all it has."""
    order = rng.permutation(len(values))
    if kind != "classes":
        return order[:MOST_IMAGES]
    share = MOST_IMAGES / len(values)
    members = [order[values[order] == c] for c in range(values.max() + 1)]
    return np.concatenate([m[: max(200, round(share * len(m)))] for m in members])
