"""Scores of disentanglement: arrays in, number out.

Every metric takes ``(factors, codes)``: rows are samples, integer factors are classes and floating ones are continuous.
"""

from unbraid.metrics.beta_vae import beta_vae
from unbraid.metrics.dci import DCI, dci
from unbraid.metrics.dcimig import dcimig
from unbraid.metrics.downstream import Downstream, downstream
from unbraid.metrics.explicitness import explicitness
from unbraid.metrics.factor_vae import factor_vae
from unbraid.metrics.infomec import InfoMEC, infomec
from unbraid.metrics.irs import irs
from unbraid.metrics.jemmig import jemmig
from unbraid.metrics.local_isometry import local_isometry
from unbraid.metrics.mcc import Matching, match, mcc
from unbraid.metrics.med import med
from unbraid.metrics.mig import mig
from unbraid.metrics.mig_sup import mig_sup
from unbraid.metrics.modularity import modularity
from unbraid.metrics.pairwise_information import pairwise_information
from unbraid.metrics.sap import sap
from unbraid.metrics.subspace_angle import aligned_subspace_angle, subspace_angle
from unbraid.metrics.total_correlation import total_correlation
from unbraid.metrics.udr import UDR, udr
from unbraid.metrics.wasserstein_correlation import wasserstein_correlation

__all__ = [
    "DCI",
    "UDR",
    "Downstream",
    "InfoMEC",
    "Matching",
    "aligned_subspace_angle",
    "beta_vae",
    "dci",
    "dcimig",
    "downstream",
    "explicitness",
    "factor_vae",
    "infomec",
    "irs",
    "jemmig",
    "local_isometry",
    "match",
    "mcc",
    "med",
    "mig",
    "mig_sup",
    "modularity",
    "pairwise_information",
    "sap",
    "subspace_angle",
    "total_correlation",
    "udr",
    "wasserstein_correlation",
]
