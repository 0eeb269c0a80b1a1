"""Self-supervised GIN: each point's augmentations are its condition."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from unbraid.data.observations import Observations, data_of
from unbraid.data.rows import Rows, checksum
from unbraid.datasets.augment import AffineSets
from unbraid.estimator.parameters import COUNT, FUNCTION, Hint, Number
from unbraid.flows.augment import caller, draw_sets
from unbraid.flows.base import FlowEstimator
from unbraid.flows.checks import refuse_large_offsets
from unbraid.flows.conditions import Sets
from unbraid.flows.consensus import Consensus, follow
from unbraid.flows.spectrum import agreement, found_again, warn_of_disagreement
from unbraid.flows.training import FlowTrainer, encode_on_device
from unbraid.networks.flow import Flow

KEPT = 30_000_000  # numbers: sets up to this size are drawn once and kept, as in the paper; larger ones batch by batch


class SelfSupervisedGIN(FlowEstimator):
    """GIN whose condition is the point itself: its augmentations share one normal distribution in the latent space.

    The loss is the mean over points x and their augmentations a of sum_i (z_i(a) - mu_i(x))^2 / (2 sigma_i(x)^2) +
    log sigma_i(x), with mu and sigma over the point's set (Eq. 7), which comes to sum_i log sigma_i(x). Use it when
    there are no labels but you know changes that matter: latents that the augmentations move are identified, and,
    less reliably, others too, which small data noise moves a little.

    Parameters
    ----------
    augment : callable, "affine" or None
        ``augment(X)`` or ``augment(X, rng)``: points like X, or sets (n, M, ...). ``"affine"`` is the paper's recipe
        for digits, :class:`~unbraid.datasets.AffineSets`. None: :meth:`fit` takes sets. A run resumes from its
        ``checkpoint`` only if ``augment`` draws the same rows again, so it must draw from ``rng`` alone.
    n_augmentations : int
        M, calls of a function that returns one augmentation per point.
    batch_size : int
        Points (sets) per step.
    noise : float or "auto"
        "auto" is 5 % of the overall standard deviation of X. It moves what the augmentations leave alone a little,
        which lets those latents be found as well (the paper has 0.01).
    marginal : float
        Weight of sum_i log(std of z_i over the batch) in the loss. The sets alone cannot tell a latent that is
        augmented from the same latent plus any function of what is not: the within-set std does not change. This
        term prefers the smaller of such latents; it helps some seeds with one augmented
        dimension, and biases others where the factors depend on each other. Large values take out
        what factors have in common and cost accuracy where the true factors depend on each other. 0 is the paper.
    shared_spread : bool
        Once the learning rate has dropped, every set has the same std of a latent, in place of one of its own: an
        augmentation is taken to move its factor by the same amount wherever the point lies. Where one factor of
        several is augmented, the sets' own stds leave a(z2) z1 free with any a of what is not augmented; this does
        not. It improves most starts and ruins some, so it is not the default; False is the paper's loss.
    n_init : int
        Starts, trained at once. From three on, the one is kept whose codes agree most with those of the others
        (:func:`~unbraid.flows.spectrum.agreement`): the loss does not see every way to fail.
    consensus : bool
        From three starts on, the one that is kept takes some more steps, an eighth as many at the low rate, in which
        its codes are drawn to what the starts agree on (:class:`~unbraid.flows.consensus.Consensus`): what the loss
        leaves free differs from start to start, and is averaged out. They are taken back if the held-out loss rises
        by more than ``tol`` per feature, and left out if ``max_seconds`` ended the training. False is the paper.
    **settings
        See :class:`~unbraid.GIN`.

    Attributes
    ----------
    n_informative_, n_informative_interval_, n_informative_drop_, n_above_noise_, above_noise_, importance_, stds_ :
        As in GIN, and so are ``reach_``, ``order_``, ``init_scores_`` and ``history_``; ``stds_`` is the std over all
        points.
    set_stds_ : array (n_features,)
        RMS over points of the std within a set.
    information_ : array (n_features,)
        log(std over all / std within a set), in nats.
    found_again_ : array (n_features,)
        How well the other starts have each code: mean of its largest absolute correlation with one of theirs; NaN
        with one start. ``fit`` warns where an informative code has less than 0.95.
    follows_consensus_ : bool
        Whether the steps to the consensus were taken, and not taken back.

    References
    ----------
    Anonymous (2020), Self-supervised disentangled representation learning, Eq. 7.

    Examples
    --------
    >>> import numpy as np, unbraid as ub
    >>> X = np.random.default_rng(0).normal(size=(200, 4)) * [2, 1, 0.01, 0.01]
    >>> def shake(X, rng):
    ...     return X + rng.normal(size=X.shape) * [0.5, 0.5, 0, 0]
    >>> model = ub.SelfSupervisedGIN(augment=shake, max_steps=20, n_init=1, random_state=0).fit(X)
    >>> model.transform(X).shape
    (200, 4)
    """

    # what augment draws is compared, and the consensus comes after the run
    _not_identity = FlowEstimator._not_identity | {"augment", "consensus"}

    _parameter_constraints = {
        "augment": (FUNCTION, "affine", None, Hint("Without it, give sets.")),
        "n_augmentations": COUNT,
        "marginal": (Number(0),),
        "shared_spread": (bool,),
        "consensus": (bool,),
    }

    def __init__(
        self,
        augment: Callable | str | None = None,
        *,
        n_augmentations: int = 10,
        marginal: float = 0.004,
        shared_spread: bool = False,
        batch_size: int = 250,
        n_init: int = 6,
        consensus: bool = True,
        patience: int = 10,
        **settings: Any,
    ):
        super().__init__(batch_size=batch_size, n_init=n_init, patience=patience, **settings)
        self.augment = augment
        self.n_augmentations = n_augmentations
        self.marginal = marginal
        self.shared_spread = shared_spread
        self.consensus = consensus

    @property
    def _leaves_out_constants(self) -> bool:
        return False  # augmentations are made for all columns

    def fit(self, X: Any, y: Any = None, *, sets: Any = None) -> Self:
        """Fit to points with ``augment``; without it, to sets (n, M, ...), or to points whose sets are in ``sets``.

        ``y`` is ignored.
        """
        self._check_parameters()  # the seed and the sets are looked at before the rows are read
        seed = self._seed()
        split, architecture, training, after = self._streams(seed)
        given, sets, points, draw = self._sources(self._observed(X, sets=sets), split)
        seen = points if points is not None else sets.reshape(-1, *self.row_shape_)
        refuse_large_offsets(seen)
        flow = self._build(architecture, self.n_init)
        self._set_noise(seen)
        n, members = sets.shape[:2] if sets is not None else (len(points), draw(points[:2], split).shape[1])
        shuffled = split.permutation(n)
        held = min(round(self.validation_fraction * n), n - 2, 1000)
        held_out, train = shuffled[:held], shuffled[held:]
        condition = Sets(self._family, len(train), self.batch_size, members, self.marginal, self.shared_spread)

        def rows_of(index: np.ndarray, rng: np.random.Generator) -> Tensor:
            part = sets[index] if sets is not None else draw(points[index], rng)
            return self._to_network(part.reshape(-1, *self.row_shape_), torch.float32)

        judged = rows_of(held_out if held else train[:1000], split)
        drawn = f"{len(judged)} held out {checksum(judged.numpy()):08x}"
        identity = self._flow_identity(seed, given, flow, augmented=drawn)
        limit = 2000 if judged.ndim == 4 else 10_000
        judged = self._noisy(judged[: limit // members * members], split)
        evaluate, choose = self._judges(flow, judged, members)
        trainer = self._train(
            condition, lambda index, rng: rows_of(train[index], rng), evaluate, flow, training, identity, choose
        )
        self._compare_starts(trainer, judged, evaluate)
        self._describe(rows_of, n, members, after)
        return self

    def _sources(self, known: Observations, rng: np.random.Generator) -> tuple[Rows, Any, Any, Any]:
        """The rows as given, sets that are at hand (or None), the points, and the function that draws sets."""
        if self.augment is None:
            given, sets = self._read_sets(known)
            return given, sets, None, None
        if known.sets is not None:
            raise ValueError("augment draws the sets, so sets must not be passed as well. Leave out one of them.")
        given = self._read(known, fewest=3)
        points = given.array()
        augment = AffineSets(noise=0) if isinstance(self.augment, str) else caller(self.augment)

        def draw(part: np.ndarray, rng: np.random.Generator) -> np.ndarray:
            return draw_sets(augment, part, self.n_augmentations, rng)

        if points.size * self.n_augmentations <= KEPT:
            return given, draw(points, rng), points, draw
        return given, None, points, draw

    def _read_sets(self, known: Observations) -> tuple[Rows, np.ndarray]:
        """The members of all sets as rows, and the sets."""
        if known.sets is not None:
            rows = self._read(known)
            members = _members_of(known.sets)
            return rows, rows.array()[members]
        X = np.asarray(known.X)
        if X.ndim < 3:
            raise ValueError(
                f"without augment, X must hold sets, (n, M, ...); it has shape {X.shape}. Set augment= to draw "
                "them from points, pass fit(X, sets=...) with the set of each row, or reshape X into sets."
            )
        if X.shape[1] < 2:
            raise ValueError(
                f"sets of {X.shape[1]} have no variance; each needs at least 2 augmentations (X: {X.shape})."
            )
        rows = self._read(X.reshape(-1, *X.shape[2:]))
        return rows, rows.array().reshape(X.shape)

    def _judges(self, flow: Flow, rows: Tensor, members: int) -> tuple[Any, Any]:
        """Of starts: the loss of held-out sets under their own statistics, and which one agrees most with the others.

        The loss cannot tell a factor from the same factor plus a function of others that the augmentations leave
        alone, so it does not choose among starts that have it nearly alike.
        """
        condition = Sets(self._family, len(rows) // members, len(rows) // members, members)
        index = np.arange(len(rows) // members)

        def evaluate(theta: Tensor, extra: Tensor) -> np.ndarray:
            r, volume = encode_on_device(flow, theta, rows)
            return (condition.loss(r.transpose(1, 2), index, extra) - volume.mean(1)).numpy()

        def choose(scores: np.ndarray, theta: Tensor, flow: Flow) -> int:
            good = np.flatnonzero(np.isfinite(scores))
            codes = flow.encode(theta, rows, batch_size=1000)[0].double().numpy()[good]
            return int(good[np.argmin(scores[good]) if len(good) < 3 else np.argmax(agreement(codes))])

        return evaluate, choose

    def _compare_starts(self, trainer: FlowTrainer, rows: Tensor, evaluate: Any) -> None:
        """Train the kept start towards the consensus, and measure how well the other starts find its codes."""
        good = np.flatnonzero(np.isfinite(self.init_scores_)).tolist()
        kept = good.index(self.best_init_)
        starts, theta = trainer.flow.select(*good), trainer.theta[good]
        codes = encode_on_device(starts, theta, rows)[0].double().numpy()
        self.follows_consensus_ = False
        if self.consensus and len(good) >= 3 and not self.stopped_.startswith("max_seconds"):
            of_all, of_one = (
                self._forward_of(flow, trainer.device.torch_device) for flow in (starts, starts.select(kept))
            )
            moved = trainer.theta.clone()
            moved[self.best_init_] = follow(Consensus(codes, kept), trainer, starts, theta, kept, of_all, of_one)
            loss = evaluate(moved, trainer.extra)[self.best_init_]
            self.follows_consensus_ = bool(loss <= self.tol * starts.n_features - self.init_scores_[self.best_init_])
            if self.follows_consensus_:
                self.theta_ = moved[self.best_init_].cpu().numpy().copy()
                codes = encode_on_device(starts, moved[good], rows)[0].double().numpy()
        self.found_again_ = found_again(codes, kept)

    def _describe(self, rows_of: Any, n: int, members: int, rng: np.random.Generator) -> None:
        some = rng.permutation(n)[: max(2, (8000 if len(self._network_shape) == 3 else 50_000) // members)]
        rows = self._noisy(rows_of(some, rng), rng)
        theta = torch.from_numpy(self.theta_)[None]
        r = self._network.encode(theta, rows, batch_size=1000)[0][0].double().numpy()
        stds = r.std(0)
        within = np.sqrt(r.reshape(len(some), members, -1).var(1).mean(0))
        self._rank(*self._reach(r.astype(np.float32), r - r.mean(0), rng))
        self.stds_, self.set_stds_ = stds[self.order_], within[self.order_]
        self.information_ = np.log(np.maximum(self.stds_ / self.set_stds_, 1))
        self.middle_ = np.median(r, 0)[self.order_]
        self.n_members_ = members
        self.found_again_ = self.found_again_[self.order_]
        warn_of_disagreement(self.found_again_, self.n_informative_)

    def transform(self, X: Any) -> np.ndarray:
        """Codes (n, n_features) of points, or (n, M, n_features) of sets; the most important latent first."""
        check_is_fitted(self, "theta_")
        X = data_of(X)
        n_members, *shape = Rows(X).row_shape
        if shape and tuple(shape) == tuple(self.row_shape_):
            members = self._new_rows(np.asarray(X).reshape(-1, *shape))
            return self._codes_of(members).reshape(-1, n_members, self._n_features_out)
        return self._codes_of(self._new_rows(X))

    def _get_state(self) -> dict[str, Any]:
        state = super()._get_state()
        if callable(state.get("augment")):
            state["augment"] = None
        return state


def _members_of(sets: np.ndarray) -> np.ndarray:
    """Rows (n_sets, M) of each set, in their order; all sets must have one size."""
    found, counts = np.unique(sets, return_counts=True)
    if counts.min() != counts.max() or counts.min() < 2:
        raise ValueError(
            f"the {len(found)} sets have {counts.min()} to {counts.max()} members; all must have the same number, at "
            "least 2."
        )
    return np.argsort(sets, kind="stable").reshape(len(found), -1)
