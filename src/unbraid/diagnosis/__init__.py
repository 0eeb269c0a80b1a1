"""Which assumptions hold for some data, which method they allow, and a fit by that method."""

from unbraid.diagnosis.diagnose import diagnose
from unbraid.diagnosis.findings import Diagnosis, Finding
from unbraid.diagnosis.fitting import fit

__all__ = ["Diagnosis", "Finding", "diagnose", "fit"]
