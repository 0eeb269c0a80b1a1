"""HLLE+ICA and its relatives: eigenvectors of a neighbour graph, then independent components."""

from unbraid.spectral.embeddings import LTSA, HessianEigenmaps, LaplacianEigenmaps
from unbraid.spectral.factors import HessianICA, LaplacianICA, TangentICA
from unbraid.spectral.pca_ica import PCAICA

__all__ = ["LTSA", "PCAICA", "HessianEigenmaps", "HessianICA", "LaplacianEigenmaps", "LaplacianICA", "TangentICA"]
