# Written by scripts/stubs.py.
__all__: list[str]
from unbraid.spectral.factors import GeodesicICA as GeodesicICA
from unbraid.spectral.embeddings import HessianEigenmaps as HessianEigenmaps
from unbraid.spectral.factors import HessianICA as HessianICA
from unbraid.spectral.embeddings import LTSA as LTSA
from unbraid.spectral.embeddings import LaplacianEigenmaps as LaplacianEigenmaps
from unbraid.spectral.factors import LaplacianICA as LaplacianICA
from unbraid.spectral.pca_ica import PCAICA as PCAICA
from unbraid.spectral.factors import TangentICA as TangentICA
