"""Which assumptions hold for some data, which method they allow, and a fit by that method."""

from unbraid.diagnosis.auto import fit
from unbraid.diagnosis.diagnose import diagnose
from unbraid.diagnosis.findings import Diagnosis, Finding

__all__ = ["Diagnosis", "Finding", "diagnose", "fit"]
