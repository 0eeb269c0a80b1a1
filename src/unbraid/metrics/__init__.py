"""Scores of disentanglement: arrays in, number out; and the one table of them.

Every metric takes ``(factors, codes)``: rows are samples, integer factors are classes and floating ones are continuous.

The public names of this module, :func:`unbraid.evaluate`, the command line, the contract test and the table in the
documentation read ``METRICS``. A new metric is its function, its line here, its tests and its paragraph in the docs.
The functions load on first use: who wants one of them should not wait for the others.
"""

import sys
from importlib import import_module
from math import inf
from operator import attrgetter as attribute
from typing import Any

from unbraid.metrics.metric import Metric

m: Any = sys.modules[__name__]  # what a score calls is looked up when it is computed

_OF_CODES: Any = {"needs": (), "better": "low", "bounds": (0.0, inf)}
METRICS = (
    Metric(
        "mcc",
        lambda s, p, seed: m.mcc(s.factors, s.codes),
        "each factor correlates with a code of its own",
        'linear (or, ``kind="spearman"``, monotone) relations only; ``weak=True`` forgives any linear map',
        ("matching.mcc", "matching.match", "matching.Matching"),
    ),
    Metric("mcc_spearman", lambda s, p, seed: m.mcc(s.factors, s.codes, kind="spearman")),
    Metric("mcc_weak", lambda s, p, seed: m.mcc(s.factors, s.codes, weak=True)),
    Metric("mcc_out_of_sample", lambda s, p, seed: m.mcc(*s.parts)),
    Metric(
        "mig",
        lambda s, p, seed: m.mig(s.factors, s.codes, n_bins=p.n_bins),
        "one code leads in telling each factor",
        "bounded by its bins; does not see a code that mixes factors; a duplicated code costs all",
        ("gaps.mig",),
    ),
    Metric(
        "mig_sup",
        lambda s, p, seed: m.mig_sup(s.factors, s.codes, n_bins=p.n_bins),
        "one factor leads in each code",
        "spare codes lower it; does not see that a factor is missing a code",
        ("gaps.mig_sup",),
    ),
    Metric(
        "jemmig",
        lambda s, p, seed: m.jemmig(s.factors, s.codes, n_bins=p.n_bins),
        "MIG, and the leading code tells nothing else",
        r"constant codes score :math:`\log B / (H + \log B)`",
        ("gaps.jemmig",),
    ),
    Metric(
        "dcimig",
        lambda s, p, seed: m.dcimig(s.factors, s.codes, n_bins=p.n_bins),
        "every factor has a code that tells it and no other",
        "bounded by its bins",
        ("gaps.dcimig",),
    ),
    Metric(
        "med",
        lambda s, p, seed: m.med(s.factors, s.codes, n_bins=p.n_bins),
        "DCI's disentanglement from mutual information",
        "biased towards 0 for few samples and many codes",
        ("gaps.med",),
    ),
    Metric(
        "modularity",
        lambda s, p, seed: m.modularity(s.factors, s.codes, n_bins=p.n_bins),
        "each code tells one factor at most",
        "noise looks modular; says nothing of factors without a code",
        ("gaps.modularity",),
    ),
    Metric(
        "irs",
        lambda s, p, seed: m.irs(s.factors, s.codes, n_bins=p.n_bins, quantile=p.irs_quantile),
        "a code stands still while its factor does",
        "worst cases: an outlier in a code raises it",
        ("interventions.irs",),
    ),
    Metric(
        "beta_vae",
        lambda s, p, seed: m.beta_vae(s.factors, s.codes, **p.batches, C=p.logistic_C, random_state=seed),
        "a linear classifier tells which factor two samples share",
        "1 already with K - 1 of K factors, and for codes turned by 35 degrees",
        ("batches.beta_vae",),
        cost="medium",
    ),
    Metric(
        "factor_vae",
        lambda s, p, seed: m.factor_vae(s.factors, s.codes, **p.batches, threshold=p.prune, random_state=seed),
        "the code that moves least tells which factor was held",
        "near 1 for codes turned by 40 degrees",
        ("batches.factor_vae",),
        cost="medium",
    ),
    Metric(
        "sap",
        lambda s, p, seed: m.sap(*s.parts, C=p.svm_C),
        "one code leads in predicting each factor linearly",
        "low even for perfect codes of many-valued factors; depends on the scale of the codes",
        ("margins.sap",),
        cost="medium",
    ),
    Metric(
        "explicitness",
        lambda s, p, seed: m.explicitness(*s.parts, C=p.logistic_C, n_bins=p.n_bins),
        "a linear classifier can read the factors",
        "blind to axes",
        ("readout.explicitness",),
        cost="medium",
    ),
    Metric(
        "infomec",
        lambda s, p, seed: m.infomec(s.factors, s.codes, n_neighbors=p.infomec_neighbors, n_bins=p.n_bins),
        "InfoM, InfoE, InfoC: modularity, explicitness, compactness",
        "InfoM and InfoC of noise are far from 0",
        ("mixed_information.infomec", "mixed_information.InfoMEC"),
        {row: attribute(row) for row in ("infom", "infoe", "infoc")},
        cost="medium",
    ),
    Metric(
        "dci",
        lambda s, p, seed: m.dci(*s.parts, backend=p.dci_backend, random_state=p.random_state),
        "disentanglement, completeness, informativeness from trees",
        "depends on the trees: compare one backend only",
        ("importance.dci", "importance.DCI"),
        {f"dci_{row}": attribute(row) for row in ("disentanglement", "completeness", "informativeness")},
        cost="heavy",
    ),
    Metric(
        "dci_es",
        lambda s, p, seed: m.loss_capacity(*s.parts, random_state=p.random_state),
        "DCI, and weak predictors already read the factors (explicitness); few codes (size)",
        "depends on the family of predictors; blind to axes; says nothing of what the codes do not tell",
        ("capacity.dci_es", "capacity.DCIES", "capacity.loss_capacity", "capacity.LossCapacity"),
        {"dci_explicitness": float},
        bounds=(-1.0, 1.0),
        cost="medium",
    ),
    Metric(
        "downstream_logistic",
        lambda s, p, seed: m.downstream(
            *s.parts, n_train=p.training_sizes(s.n_train), classifier="logistic", random_state=p.random_state
        ),
        "factors are predicted from few and from many samples",
        "measures information more than axes",
        ("readout.downstream", "readout.Downstream"),
        {"downstream_logistic": float, "efficiency_logistic": attribute("efficiency")},
        bounds=(0.0, inf),
        cost="heavy",
    ),
    Metric(
        "downstream_trees",
        lambda s, p, seed: m.downstream(
            *s.parts, n_train=p.training_sizes(s.n_train), classifier=p.dci_backend, random_state=p.random_state
        ),
        reads={"downstream_trees": float, "efficiency_trees": attribute("efficiency")},
        bounds=(0.0, inf),
        cost="heavy",
    ),
    Metric(
        "total_correlation",
        lambda s, p, seed: m.total_correlation(s.codes),
        "codes are independent of each other (no factors needed); low is good",
        "unrelated to the scores that know the factors",
        ("independence.total_correlation",),
        **_OF_CODES,
    ),
    Metric(
        "wasserstein_correlation",
        lambda s, p, seed: m.wasserstein_correlation(s.codes),
        "the same, finite where a code is a combination of others",
        "grows with the scale of the codes",
        ("independence.wasserstein_correlation",),
        **_OF_CODES,
    ),
    Metric(
        "wasserstein_normalised", lambda s, p, seed: m.wasserstein_correlation(s.codes, normalised=True), **_OF_CODES
    ),
    Metric(
        "pairwise_information",
        lambda s, p, seed: m.pairwise_information(s.codes, n_bins=p.n_bins),
        "no two codes tell of each other (no factors needed); low is good",
        "does not see what three codes share; bounded by its bins",
        ("independence.pairwise_information",),
        **_OF_CODES,
    ),
    Metric(
        "local_isometry",
        # of images, more rows would not fit into memory as floats
        lambda s, p, seed: m.local_isometry(s.observations(2000), s.pool_codes[s.rows[:2000]]),
        "distances of close samples are those of their codes (no factors needed)",
        "a turned isometry scores as high",
        ("isometry.local_isometry",),
        needs=("observations",),
        bounds=(-1.0, 1.0),
        cost="medium",
    ),
    Metric(
        "udr",
        None,
        "models agree with each other, axis by axis (no factors needed)",
        "needs several models",
        ("agreement.udr", "agreement.UDR"),
        needs=("models",),
    ),
    Metric(
        "subspace_angle",
        None,
        "tangent spaces of submanifolds are told apart, in radians; low is good",
        "needs the true tangent spaces",
        ("subspaces.subspace_angle", "subspaces.aligned_subspace_angle"),
        needs=("subspaces",),
        better="low",
        bounds=(0.0, inf),
    ),
)

_MODULES = {place.partition(".")[2]: place.partition(".")[0] for metric in METRICS for place in metric.public}
__all__ = ["METRICS", "Metric", *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"unbraid.metrics.{_MODULES[name]}"), name)
    raise AttributeError(f"unbraid.metrics has no {name!r}; it has: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
