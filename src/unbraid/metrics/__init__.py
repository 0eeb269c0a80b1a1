"""Scores of disentanglement: arrays in, number out; and the one table of them.

Every metric takes ``(factors, codes)``: rows are samples, integer factors are classes and floating ones are continuous.

The public names of this module, :func:`unbraid.evaluate`, the command line and the contract test read ``METRICS``. A
new metric is its function, its line here, its tests and its row in docs/metrics.rst.
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
    Metric("mcc", lambda s, p, seed: m.mcc(s.factors, s.codes, **s.kinds),
           ("matching.mcc", "matching.match", "matching.Matching")),
    Metric("mcc_spearman", lambda s, p, seed: m.mcc(s.factors, s.codes, kind="spearman", **s.kinds)),
    Metric("mcc_weak", lambda s, p, seed: m.mcc(s.factors, s.codes, weak=True)),
    Metric("mcc_out_of_sample", lambda s, p, seed: m.mcc(*s.parts)),
    Metric("mig", lambda s, p, seed: m.mig(s.factors, s.codes, n_bins=p.n_bins), ("gaps.mig",)),
    Metric("mig_sup", lambda s, p, seed: m.mig_sup(s.factors, s.codes, n_bins=p.n_bins), ("gaps.mig_sup",)),
    Metric("jemmig", lambda s, p, seed: m.jemmig(s.factors, s.codes, n_bins=p.n_bins), ("gaps.jemmig",)),
    Metric("dcimig", lambda s, p, seed: m.dcimig(s.factors, s.codes, n_bins=p.n_bins), ("gaps.dcimig",)),
    Metric("med", lambda s, p, seed: m.med(s.factors, s.codes, n_bins=p.n_bins), ("gaps.med",)),
    Metric("modularity", lambda s, p, seed: m.modularity(s.factors, s.codes, n_bins=p.n_bins), ("gaps.modularity",)),
    Metric("irs", lambda s, p, seed: m.irs(s.factors, s.codes, n_bins=p.n_bins, quantile=p.irs_quantile),
           ("interventions.irs",)),
    Metric("beta_vae",
           lambda s, p, seed: m.beta_vae(s.factors, s.codes, **p.batches, C=p.logistic_C, random_state=seed),
           ("batches.beta_vae",), cost="medium"),
    Metric("factor_vae",
           lambda s, p, seed: m.factor_vae(s.factors, s.codes, **p.batches, threshold=p.prune, random_state=seed),
           ("batches.factor_vae",), cost="medium"),
    Metric("sap", lambda s, p, seed: m.sap(*s.parts, C=p.svm_C), ("margins.sap",), cost="medium"),
    Metric("explicitness", lambda s, p, seed: m.explicitness(*s.parts, C=p.logistic_C, n_bins=p.n_bins),
           ("readout.explicitness",), cost="medium"),
    Metric("infomec",
           lambda s, p, seed: m.infomec(s.factors, s.codes, n_neighbors=p.infomec_neighbors, n_bins=p.n_bins),
           ("mixed_information.infomec", "mixed_information.InfoMEC"),
           {row: attribute(row) for row in ("infom", "infoe", "infoc")}, cost="medium"),
    Metric("dci", lambda s, p, seed: m.dci(*s.parts, backend=p.dci_backend, random_state=p.random_state),
           ("importance.dci", "importance.DCI"),
           {f"dci_{row}": attribute(row) for row in ("disentanglement", "completeness", "informativeness")},
           cost="heavy"),
    Metric("dci_es", lambda s, p, seed: m.loss_capacity(*s.parts, random_state=p.random_state),
           ("capacity.dci_es", "capacity.DCIES", "capacity.loss_capacity", "capacity.LossCapacity"),
           {"dci_explicitness": float}, bounds=(-1.0, 1.0), cost="medium"),
    Metric("downstream_logistic", lambda s, p, seed: _downstream(s, p, "logistic"),
           ("readout.downstream", "readout.Downstream"),
           {"downstream_logistic": float, "efficiency_logistic": attribute("efficiency")}, bounds=(0.0, inf),
           cost="heavy"),
    Metric("downstream_trees", lambda s, p, seed: _downstream(s, p, p.dci_backend), (),
           {"downstream_trees": float, "efficiency_trees": attribute("efficiency")}, bounds=(0.0, inf), cost="heavy"),
    Metric("total_correlation", lambda s, p, seed: m.total_correlation(s.codes),
           ("independence.total_correlation",), **_OF_CODES),
    Metric("wasserstein_correlation", lambda s, p, seed: m.wasserstein_correlation(s.codes),
           ("independence.wasserstein_correlation",), **_OF_CODES),
    Metric("wasserstein_normalised", lambda s, p, seed: m.wasserstein_correlation(s.codes, normalised=True),
           **_OF_CODES),
    Metric("pairwise_information", lambda s, p, seed: m.pairwise_information(s.codes, n_bins=p.n_bins),
           ("independence.pairwise_information",), **_OF_CODES),
    # of images, more rows would not fit into memory as floats
    Metric("local_isometry", lambda s, p, seed: m.local_isometry(s.observations(2000), s.pool_codes[s.rows[:2000]]),
           ("isometry.local_isometry",), needs=("observations",), bounds=(-1.0, 1.0), cost="medium"),
    Metric("udr", None, ("agreement.udr", "agreement.UDR"), needs=("models",)),
    Metric("subspace_angle", None, ("subspaces.subspace_angle", "subspaces.aligned_subspace_angle"),
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
