"""Which assumptions hold for some data, which method they allow, and a fit by that method."""

from unbraid.diagnosis.diagnose import diagnose, fit
from unbraid.diagnosis.findings import Diagnosis, Finding

__all__ = ["Diagnosis", "Finding", "diagnose", "fit"]
