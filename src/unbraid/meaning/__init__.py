"""What a code means: the features that change along it, and the known columns that go with it."""

from unbraid.meaning.loadings import Course, Loadings, loadings
from unbraid.meaning.naming import Link, Names, name, name_codes

__all__ = ["Course", "Link", "Loadings", "Names", "loadings", "name", "name_codes"]
