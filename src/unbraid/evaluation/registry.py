"""Which metrics :func:`unbraid.evaluate` knows, and how each is computed from a sample under a protocol."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from unbraid import metrics as m
from unbraid.evaluation.protocol import Protocol
from unbraid.evaluation.sample import Sample

Compute = Callable[[Sample, Protocol, int], tuple[float, ...]]


@dataclass(frozen=True)
class Metric:
    """One computation, which may give several rows of the table.

    ``supervised`` metrics have a chance level; ``better`` says whether high or low is good; ``cost`` how many
    replicates are affordable; ``split`` whether predictors are trained on one part and tested on the other.
    """

    name: str
    compute: Compute
    rows: tuple[str, ...]
    supervised: bool = True
    better: str = "high"
    bounds: tuple[float, float] = (0.0, 1.0)
    cost: str = "light"
    split: bool = False
    needs_observations: bool = False


REGISTRY: dict[str, Metric] = {}


def register(metric: Metric) -> None:
    """Add a metric; a name or row that is taken is an error."""
    taken = set(REGISTRY) | {row for known in REGISTRY.values() for row in known.rows if row != known.name}
    clash = taken & {metric.name, *metric.rows}
    if clash:
        raise ValueError(f"the metric name(s) {', '.join(sorted(clash))} are taken. Choose another name.")
    REGISTRY[metric.name] = metric


def select(names: str | Iterable[str], *, observations: bool) -> list[Metric]:
    """The metrics that give the named rows; "all" is every one that the data allow."""
    if isinstance(names, str) and names == "all":
        return [x for x in REGISTRY.values() if observations or not x.needs_observations]
    wanted = [names] if isinstance(names, str) else list(names)
    owner = {row: x for x in REGISTRY.values() for row in (x.name, *x.rows)}
    unknown = [n for n in wanted if n not in owner]
    if unknown or not wanted:
        raise ValueError(
            f"unknown metric(s) {', '.join(unknown) or '(none given)'}; known are: all, {', '.join(REGISTRY)}."
        )
    chosen = {owner[n].name: owner[n] for n in wanted}
    missing = [x.name for x in chosen.values() if x.needs_observations and not observations]
    if missing:
        raise ValueError(
            f"{', '.join(missing)} need the observations: evaluate a model on a data set or on (X, factors)."
        )
    return list(chosen.values())


def _plain(name: str, call: Callable[[Sample, Protocol], float], **options) -> None:
    register(Metric(name, lambda s, p, seed: (float(call(s, p)),), (name,), **options))


def _binned(name: str) -> None:
    function = getattr(m, name)
    _plain(name, lambda s, p: function(s.factors, s.codes, n_bins=p.n_bins))


_plain("mcc", lambda s, p: m.mcc(s.factors, s.codes))
_plain("mcc_spearman", lambda s, p: m.mcc(s.factors, s.codes, kind="spearman"))
_plain("mcc_weak", lambda s, p: m.mcc(s.factors, s.codes, weak=True))
_plain("mcc_out_of_sample", lambda s, p: m.mcc(*s.parts), split=True)
for _name in ("mig", "mig_sup", "jemmig", "dcimig", "med", "modularity"):
    _binned(_name)
_plain("irs", lambda s, p: m.irs(s.factors, s.codes, n_bins=p.n_bins, quantile=p.irs_quantile))


def _batches(function: Callable, s: Sample, p: Protocol, seed: int, **options) -> tuple[float]:
    sizes = {"n_train": p.n_batches, "n_test": p.n_batches_test, "batch_size": p.batch_size}
    return (function(s.factors, s.codes, **sizes, n_bins=p.n_bins, random_state=seed, **options),)


register(
    Metric(
        "beta_vae", lambda s, p, seed: _batches(m.beta_vae, s, p, seed, C=p.logistic_C), ("beta_vae",), cost="medium"
    )
)
register(
    Metric(
        "factor_vae",
        lambda s, p, seed: _batches(m.factor_vae, s, p, seed, threshold=p.prune),
        ("factor_vae",),
        cost="medium",
    )
)
_plain("sap", lambda s, p: m.sap(*s.parts, C=p.svm_C), cost="medium", split=True)
_plain(
    "explicitness", lambda s, p: m.explicitness(*s.parts, C=p.logistic_C, n_bins=p.n_bins), cost="medium", split=True
)


def _infomec(s: Sample, p: Protocol, seed: int) -> tuple[float, ...]:
    found = m.infomec(s.factors, s.codes, n_neighbors=p.infomec_neighbors, n_bins=p.n_bins)
    return found.infom, found.infoe, found.infoc


register(Metric("infomec", _infomec, ("infom", "infoe", "infoc"), cost="medium"))


def _dci(s: Sample, p: Protocol, seed: int) -> tuple[float, ...]:
    found = m.dci(*s.parts, backend=p.dci_backend, random_state=p.random_state)
    return found.disentanglement, found.completeness, found.informativeness


register(
    Metric("dci", _dci, ("dci_disentanglement", "dci_completeness", "dci_informativeness"), cost="heavy", split=True)
)


def _downstream(s: Sample, p: Protocol, classifier: str) -> tuple[float, ...]:
    sizes = [n for n in p.downstream_sizes if n <= s.n_train] or [s.n_train]
    found = m.downstream(*s.parts, n_train=sizes, classifier=classifier, random_state=p.random_state)
    return float(found), found.efficiency


def _register_downstream(name: str, classifier: Callable[[Protocol], str]) -> None:
    rows = (f"downstream_{name}", f"efficiency_{name}")
    register(
        Metric(
            f"downstream_{name}",
            lambda s, p, seed: _downstream(s, p, classifier(p)),
            rows,
            bounds=(0.0, np.inf),
            cost="heavy",
            split=True,
        )
    )


_register_downstream("logistic", lambda p: "logistic")
_register_downstream("trees", lambda p: p.dci_backend)

_ALONE = {"supervised": False, "better": "low", "bounds": (0.0, np.inf)}
_plain("total_correlation", lambda s, p: m.total_correlation(s.codes), **_ALONE)
_plain("wasserstein_correlation", lambda s, p: m.wasserstein_correlation(s.codes), **_ALONE)
_plain("wasserstein_normalised", lambda s, p: m.wasserstein_correlation(s.codes, normalised=True), **_ALONE)
_plain("pairwise_information", lambda s, p: m.pairwise_information(s.codes, n_bins=p.n_bins), **_ALONE)


def _local_isometry(s: Sample, p: Protocol, seed: int) -> tuple[float]:
    rows = s.rows[:2000]  # of images, more would not fit into memory as floats
    return (float(m.local_isometry(np.asarray(s.pool_observations)[rows], s.pool_codes[rows])),)


register(
    Metric(
        "local_isometry",
        _local_isometry,
        ("local_isometry",),
        supervised=False,
        bounds=(-1.0, 1.0),
        cost="medium",
        needs_observations=True,
    )
)
