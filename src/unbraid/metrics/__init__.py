"""Scores of disentanglement: arrays in, number out; and the one table of them.

Every metric takes ``(factors, codes)``: rows are samples, integer factors are classes and floating ones are continuous.

The public names of this module, :func:`unbraid.evaluate`, the command line, the contract test and the table in the
documentation read ``METRICS``. A new metric is its module, its line here, its tests and its paragraph in the docs.
"""

# "x as x" tells type checkers that a name is public.
from math import inf
from operator import attrgetter as attribute

from unbraid.metrics.beta_vae import beta_vae as beta_vae
from unbraid.metrics.dci import DCI as DCI
from unbraid.metrics.dci import dci as dci
from unbraid.metrics.dci_es import DCIES as DCIES
from unbraid.metrics.dci_es import LossCapacity as LossCapacity
from unbraid.metrics.dci_es import dci_es as dci_es
from unbraid.metrics.dci_es import loss_capacity as loss_capacity
from unbraid.metrics.dcimig import dcimig as dcimig
from unbraid.metrics.downstream import Downstream as Downstream
from unbraid.metrics.downstream import downstream as downstream
from unbraid.metrics.explicitness import explicitness as explicitness
from unbraid.metrics.factor_vae import factor_vae as factor_vae
from unbraid.metrics.infomec import InfoMEC as InfoMEC
from unbraid.metrics.infomec import infomec as infomec
from unbraid.metrics.irs import irs as irs
from unbraid.metrics.jemmig import jemmig as jemmig
from unbraid.metrics.local_isometry import local_isometry as local_isometry
from unbraid.metrics.mcc import Matching as Matching
from unbraid.metrics.mcc import match as match
from unbraid.metrics.mcc import mcc as mcc
from unbraid.metrics.med import med as med
from unbraid.metrics.metric import Metric
from unbraid.metrics.mig import mig as mig
from unbraid.metrics.mig_sup import mig_sup as mig_sup
from unbraid.metrics.modularity import modularity as modularity
from unbraid.metrics.pairwise_information import pairwise_information as pairwise_information
from unbraid.metrics.sap import sap as sap
from unbraid.metrics.subspace_angle import aligned_subspace_angle as aligned_subspace_angle
from unbraid.metrics.subspace_angle import subspace_angle as subspace_angle
from unbraid.metrics.total_correlation import total_correlation as total_correlation
from unbraid.metrics.udr import UDR as UDR
from unbraid.metrics.udr import udr as udr
from unbraid.metrics.wasserstein_correlation import wasserstein_correlation as wasserstein_correlation

METRICS = (
    Metric(
        "mcc",
        lambda s, p, seed: mcc(s.factors, s.codes),
        "each factor correlates with a code of its own",
        'linear (or, ``kind="spearman"``, monotone) relations only; ``weak=True`` forgives any linear map',
        (mcc, match, Matching),
    ),
    Metric("mcc_spearman", lambda s, p, seed: mcc(s.factors, s.codes, kind="spearman")),
    Metric("mcc_weak", lambda s, p, seed: mcc(s.factors, s.codes, weak=True)),
    Metric("mcc_out_of_sample", lambda s, p, seed: mcc(*s.parts)),
    Metric(
        "mig",
        lambda s, p, seed: mig(s.factors, s.codes, n_bins=p.n_bins),
        "one code leads in telling each factor",
        "bounded by its bins; does not see a code that mixes factors; a duplicated code costs all",
        (mig,),
    ),
    Metric(
        "mig_sup",
        lambda s, p, seed: mig_sup(s.factors, s.codes, n_bins=p.n_bins),
        "one factor leads in each code",
        "spare codes lower it; does not see that a factor is missing a code",
        (mig_sup,),
    ),
    Metric(
        "jemmig",
        lambda s, p, seed: jemmig(s.factors, s.codes, n_bins=p.n_bins),
        "MIG, and the leading code tells nothing else",
        r"constant codes score :math:`\log B / (H + \log B)`",
        (jemmig,),
    ),
    Metric(
        "dcimig",
        lambda s, p, seed: dcimig(s.factors, s.codes, n_bins=p.n_bins),
        "every factor has a code that tells it and no other",
        "bounded by its bins",
        (dcimig,),
    ),
    Metric(
        "med",
        lambda s, p, seed: med(s.factors, s.codes, n_bins=p.n_bins),
        "DCI's disentanglement from mutual information",
        "biased towards 0 for few samples and many codes",
        (med,),
    ),
    Metric(
        "modularity",
        lambda s, p, seed: modularity(s.factors, s.codes, n_bins=p.n_bins),
        "each code tells one factor at most",
        "noise looks modular; says nothing of factors without a code",
        (modularity,),
    ),
    Metric(
        "irs",
        lambda s, p, seed: irs(s.factors, s.codes, n_bins=p.n_bins, quantile=p.irs_quantile),
        "a code stands still while its factor does",
        "worst cases: an outlier in a code raises it",
        (irs,),
    ),
    Metric(
        "beta_vae",
        lambda s, p, seed: beta_vae(s.factors, s.codes, **p.batches, C=p.logistic_C, random_state=seed),
        "a linear classifier tells which factor two samples share",
        "1 already with K - 1 of K factors, and for codes turned by 35 degrees",
        (beta_vae,),
        cost="medium",
    ),
    Metric(
        "factor_vae",
        lambda s, p, seed: factor_vae(s.factors, s.codes, **p.batches, threshold=p.prune, random_state=seed),
        "the code that moves least tells which factor was held",
        "near 1 for codes turned by 40 degrees",
        (factor_vae,),
        cost="medium",
    ),
    Metric(
        "sap",
        lambda s, p, seed: sap(*s.parts, C=p.svm_C),
        "one code leads in predicting each factor linearly",
        "low even for perfect codes of many-valued factors; depends on the scale of the codes",
        (sap,),
        cost="medium",
    ),
    Metric(
        "explicitness",
        lambda s, p, seed: explicitness(*s.parts, C=p.logistic_C, n_bins=p.n_bins),
        "a linear classifier can read the factors",
        "blind to axes",
        (explicitness,),
        cost="medium",
    ),
    Metric(
        "infomec",
        lambda s, p, seed: infomec(s.factors, s.codes, n_neighbors=p.infomec_neighbors, n_bins=p.n_bins),
        "InfoM, InfoE, InfoC: modularity, explicitness, compactness",
        "InfoM and InfoC of noise are far from 0",
        (infomec, InfoMEC),
        {row: attribute(row) for row in ("infom", "infoe", "infoc")},
        cost="medium",
    ),
    Metric(
        "dci",
        lambda s, p, seed: dci(*s.parts, backend=p.dci_backend, random_state=p.random_state),
        "disentanglement, completeness, informativeness from trees",
        "depends on the trees: compare one backend only",
        (dci, DCI),
        {f"dci_{row}": attribute(row) for row in ("disentanglement", "completeness", "informativeness")},
        cost="heavy",
    ),
    Metric(
        "dci_es",
        lambda s, p, seed: loss_capacity(*s.parts, random_state=p.random_state),
        "DCI, and weak predictors already read the factors (explicitness); few codes (size)",
        "depends on the family of predictors; blind to axes; says nothing of what the codes do not tell",
        (dci_es, DCIES, loss_capacity, LossCapacity),
        {"dci_explicitness": float},
        bounds=(-1.0, 1.0),
        cost="medium",
    ),
    Metric(
        "downstream_logistic",
        lambda s, p, seed: downstream(
            *s.parts, n_train=p.training_sizes(s.n_train), classifier="logistic", random_state=p.random_state
        ),
        "factors are predicted from few and from many samples",
        "measures information more than axes",
        (downstream, Downstream),
        {"downstream_logistic": float, "efficiency_logistic": attribute("efficiency")},
        bounds=(0.0, inf),
        cost="heavy",
    ),
    Metric(
        "downstream_trees",
        lambda s, p, seed: downstream(
            *s.parts, n_train=p.training_sizes(s.n_train), classifier=p.dci_backend, random_state=p.random_state
        ),
        reads={"downstream_trees": float, "efficiency_trees": attribute("efficiency")},
        bounds=(0.0, inf),
        cost="heavy",
    ),
    Metric(
        "total_correlation",
        lambda s, p, seed: total_correlation(s.codes),
        "codes are independent of each other (no factors needed); low is good",
        "unrelated to the scores that know the factors",
        (total_correlation,),
        needs=(),
        better="low",
        bounds=(0.0, inf),
    ),
    Metric(
        "wasserstein_correlation",
        lambda s, p, seed: wasserstein_correlation(s.codes),
        "the same, finite where a code is a combination of others",
        "grows with the scale of the codes",
        (wasserstein_correlation,),
        needs=(),
        better="low",
        bounds=(0.0, inf),
    ),
    Metric(
        "wasserstein_normalised",
        lambda s, p, seed: wasserstein_correlation(s.codes, normalised=True),
        needs=(),
        better="low",
        bounds=(0.0, inf),
    ),
    Metric(
        "pairwise_information",
        lambda s, p, seed: pairwise_information(s.codes, n_bins=p.n_bins),
        "no two codes tell of each other (no factors needed); low is good",
        "does not see what three codes share; bounded by its bins",
        (pairwise_information,),
        needs=(),
        better="low",
        bounds=(0.0, inf),
    ),
    Metric(
        "local_isometry",
        # of images, more rows would not fit into memory as floats
        lambda s, p, seed: local_isometry(s.observations(2000), s.pool_codes[s.rows[:2000]]),
        "distances of close samples are those of their codes (no factors needed)",
        "a turned isometry scores as high",
        (local_isometry,),
        needs=("observations",),
        bounds=(-1.0, 1.0),
        cost="medium",
    ),
    Metric(
        "udr",
        None,
        "models agree with each other, axis by axis (no factors needed)",
        "needs several models",
        (udr, UDR),
        needs=("models",),
    ),
    Metric(
        "subspace_angle",
        None,
        "tangent spaces of submanifolds are told apart, in radians; low is good",
        "needs the true tangent spaces",
        (subspace_angle, aligned_subspace_angle),
        needs=("subspaces",),
        better="low",
        bounds=(0.0, inf),
    ),
)

__all__ = ["METRICS", "Metric"]
__all__ += [thing.__name__ for metric in METRICS for thing in metric.public]
