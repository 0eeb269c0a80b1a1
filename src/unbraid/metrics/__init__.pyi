# Written by scripts/stubs.py.
__all__: list[str]
from unbraid.metrics.importance import DCI as DCI
from unbraid.metrics.capacity import DCIES as DCIES
from unbraid.metrics.readout import Downstream as Downstream
from unbraid.metrics.mixed_information import InfoMEC as InfoMEC
from unbraid.metrics.capacity import LossCapacity as LossCapacity
METRICS: tuple[Metric, ...]
from unbraid.metrics.matching import Matching as Matching
from unbraid.metrics.metric import Metric as Metric
from unbraid.metrics.agreement import UDR as UDR
from unbraid.metrics.subspaces import aligned_subspace_angle as aligned_subspace_angle
from unbraid.metrics.batches import beta_vae as beta_vae
from unbraid.metrics.importance import dci as dci
from unbraid.metrics.capacity import dci_es as dci_es
from unbraid.metrics.gaps import dcimig as dcimig
from unbraid.metrics.readout import downstream as downstream
from unbraid.metrics.readout import explicitness as explicitness
from unbraid.metrics.batches import factor_vae as factor_vae
from unbraid.metrics.mixed_information import infomec as infomec
from unbraid.metrics.interventions import irs as irs
from unbraid.metrics.gaps import jemmig as jemmig
from unbraid.metrics.isometry import local_isometry as local_isometry
from unbraid.metrics.capacity import loss_capacity as loss_capacity
from unbraid.metrics.matching import match as match
from unbraid.metrics.matching import mcc as mcc
from unbraid.metrics.gaps import med as med
from unbraid.metrics.gaps import mig as mig
from unbraid.metrics.gaps import mig_sup as mig_sup
from unbraid.metrics.gaps import modularity as modularity
from unbraid.metrics.independence import pairwise_information as pairwise_information
from unbraid.metrics.margins import sap as sap
from unbraid.metrics.subspaces import subspace_angle as subspace_angle
from unbraid.metrics.independence import total_correlation as total_correlation
from unbraid.metrics.agreement import udr as udr
from unbraid.metrics.independence import wasserstein_correlation as wasserstein_correlation
