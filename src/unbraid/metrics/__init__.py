"""Scores of disentanglement: arrays in, number out; and the one table of them.

Every metric takes ``(factors, codes)``: rows are samples, integer factors are classes and floating ones are continuous.

The public names of this module, :func:`unbraid.evaluate`, the command line, the contract test and the table in the
documentation read ``METRICS``. A new metric is its function, its line here, its tests and its paragraph in the docs.
The functions load on first use, so that importing one does not load the others.
"""

import sys
from importlib import import_module
from math import inf
from operator import attrgetter as attribute
from typing import Any

from unbraid.metrics.metric import Metric

m: Any = sys.modules[__name__]  # functions are looked up when a score is computed


def _downstream(s: Any, p: Any, classifier: str) -> Any:
    sizes = p.training_sizes(s.n_train)
    return m.downstream(*s.parts, n_train=sizes, classifier=classifier, random_state=p.random_state)


_OF_CODES: Any = {"needs": (), "better": "low", "bounds": (0.0, inf)}
# fmt: off
METRICS = (
    Metric("mcc", lambda s, p, seed: m.mcc(s.factors, s.codes), "each factor correlates with a code of its own",
           'linear (or, ``kind="spearman"``, monotone) relations only; ``weak=True`` forgives any linear map',
           ("matching.mcc", "matching.match", "matching.Matching")),
    Metric("mcc_spearman", lambda s, p, seed: m.mcc(s.factors, s.codes, kind="spearman")),
    Metric("mcc_weak", lambda s, p, seed: m.mcc(s.factors, s.codes, weak=True)),
    Metric("mcc_out_of_sample", lambda s, p, seed: m.mcc(*s.parts)),
    Metric("mig", lambda s, p, seed: m.mig(s.factors, s.codes, n_bins=p.n_bins),
           "for each factor, one code carries more information than any other",
           "limited by its bins; does not notice a code that mixes factors; a duplicated code scores 0", ("gaps.mig",)),
    Metric("mig_sup", lambda s, p, seed: m.mig_sup(s.factors, s.codes, n_bins=p.n_bins),
           "each code carries more information about one factor than about any other",
           "spare codes lower it; does not notice a factor without a code", ("gaps.mig_sup",)),
    Metric("jemmig", lambda s, p, seed: m.jemmig(s.factors, s.codes, n_bins=p.n_bins),
           "as MIG, and the leading code carries information about no other factor",
           r"constant codes score :math:`\log B / (H + \log B)`", ("gaps.jemmig",)),
    Metric("dcimig", lambda s, p, seed: m.dcimig(s.factors, s.codes, n_bins=p.n_bins),
           "each factor has a code that carries information about it alone", "limited by its bins", ("gaps.dcimig",)),
    Metric("med", lambda s, p, seed: m.med(s.factors, s.codes, n_bins=p.n_bins),
           "DCI's disentanglement from mutual information", "biased towards 0 for few samples and many codes",
           ("gaps.med",)),
    Metric("modularity", lambda s, p, seed: m.modularity(s.factors, s.codes, n_bins=p.n_bins),
           "each code carries information about at most one factor",
           "noise looks modular; ignores factors without a code", ("gaps.modularity",)),
    Metric("irs", lambda s, p, seed: m.irs(s.factors, s.codes, n_bins=p.n_bins, quantile=p.irs_quantile),
           "a code stays fixed while its factor does", "worst case: one outlier in a code raises it",
           ("interventions.irs",)),
    Metric("beta_vae",
           lambda s, p, seed: m.beta_vae(s.factors, s.codes, **p.batches, C=p.logistic_C, random_state=seed),
           "a linear classifier can tell which factor two samples share",
           "reaches 1 with K - 1 of K factors, and for codes rotated by 35 degrees", ("batches.beta_vae",),
           cost="medium"),
    Metric("factor_vae",
           lambda s, p, seed: m.factor_vae(s.factors, s.codes, **p.batches, threshold=p.prune, random_state=seed),
           "the code that varies least shows which factor was held fixed", "near 1 for codes rotated by 40 degrees",
           ("batches.factor_vae",), cost="medium"),
    Metric("sap", lambda s, p, seed: m.sap(*s.parts, C=p.svm_C),
           "one code predicts each factor linearly, better than any other code",
           "low even for perfect codes of many-valued factors; depends on the scale of the codes", ("margins.sap",),
           cost="medium"),
    Metric("explicitness", lambda s, p, seed: m.explicitness(*s.parts, C=p.logistic_C, n_bins=p.n_bins),
           "a linear classifier can predict the factors", "ignores axes", ("readout.explicitness",), cost="medium"),
    Metric("infomec",
           lambda s, p, seed: m.infomec(s.factors, s.codes, n_neighbors=p.infomec_neighbors, n_bins=p.n_bins),
           "InfoM, InfoE, InfoC: modularity, explicitness, compactness", "InfoM and InfoC of noise are far from 0",
           ("mixed_information.infomec", "mixed_information.InfoMEC"),
           {row: attribute(row) for row in ("infom", "infoe", "infoc")}, cost="medium"),
    Metric("dci", lambda s, p, seed: m.dci(*s.parts, backend=p.dci_backend, random_state=p.random_state),
           "disentanglement, completeness, informativeness from trees",
           "depends on the trees: compare scores of one backend only", ("importance.dci", "importance.DCI"),
           {f"dci_{row}": attribute(row) for row in ("disentanglement", "completeness", "informativeness")},
           cost="heavy"),
    Metric("dci_es", lambda s, p, seed: m.loss_capacity(*s.parts, random_state=p.random_state),
           "DCI; weak predictors suffice (explicitness); few codes (size)",
           "depends on the family of predictors; ignores axes and information that the codes lack",
           ("capacity.dci_es", "capacity.DCIES", "capacity.loss_capacity", "capacity.LossCapacity"),
           {"dci_explicitness": float}, bounds=(-1.0, 1.0), cost="medium"),
    Metric("downstream_logistic", lambda s, p, seed: _downstream(s, p, "logistic"),
           "factors can be predicted from few and from many samples", "measures information more than axes",
           ("readout.downstream", "readout.Downstream"),
           {"downstream_logistic": float, "efficiency_logistic": attribute("efficiency")}, bounds=(0.0, inf),
           cost="heavy"),
    Metric("downstream_trees", lambda s, p, seed: _downstream(s, p, p.dci_backend),
           reads={"downstream_trees": float, "efficiency_trees": attribute("efficiency")}, bounds=(0.0, inf),
           cost="heavy"),
    Metric("total_correlation", lambda s, p, seed: m.total_correlation(s.codes),
           "codes are independent of each other (no factors needed); lower is better",
           "unrelated to the scores that use the factors", ("independence.total_correlation",), **_OF_CODES),
    Metric("wasserstein_correlation", lambda s, p, seed: m.wasserstein_correlation(s.codes),
           "the same, finite where a code is a combination of others", "grows with the scale of the codes",
           ("independence.wasserstein_correlation",), **_OF_CODES),
    Metric("wasserstein_normalised", lambda s, p, seed: m.wasserstein_correlation(s.codes, normalised=True),
           **_OF_CODES),
    Metric("pairwise_information", lambda s, p, seed: m.pairwise_information(s.codes, n_bins=p.n_bins),
           "no two codes share information (no factors needed); lower is better",
           "does not notice what only three codes share; limited by its bins", ("independence.pairwise_information",),
           **_OF_CODES),
    # of images, more rows would not fit into memory as floats
    Metric("local_isometry", lambda s, p, seed: m.local_isometry(s.observations(2000), s.pool_codes[s.rows[:2000]]),
           "distances between close samples equal those between their codes (no factors needed)",
           "a rotated isometry scores as high", ("isometry.local_isometry",), needs=("observations",),
           bounds=(-1.0, 1.0), cost="medium"),
    Metric("udr", None, "models agree with each other, axis by axis (no factors needed)", "needs several models",
           ("agreement.udr", "agreement.UDR"), needs=("models",)),
    Metric("subspace_angle", None, "tangent spaces of submanifolds are separated, in radians; lower is better",
           "needs the true tangent spaces", ("subspaces.subspace_angle", "subspaces.aligned_subspace_angle"),
           needs=("subspaces",), better="low", bounds=(0.0, inf)),
)
# fmt: on

_MODULES = {place.partition(".")[2]: place.partition(".")[0] for metric in METRICS for place in metric.public}
__all__ = ["METRICS", "Metric", *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"unbraid.metrics.{_MODULES[name]}"), name)
    raise AttributeError(f"unbraid.metrics has no {name!r}. Available: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
