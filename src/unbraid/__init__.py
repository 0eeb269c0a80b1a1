"""Recover the independent factors behind high-dimensional data, and say how far to trust them.

The public names load on first use: ``import unbraid`` pulls in neither torch nor scikit-learn.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_ROOMS = (
    "autoencoders",
    "datasets",
    "evaluation",
    "flows",
    "geometry",
    "metrics",
    "networks",
    "report",
    "spectral",
    "theory",
)

_HOMES = {
    "HessianICA": "spectral",
    "LaplacianICA": "spectral",
    "TangentICA": "spectral",
    "PCAICA": "spectral",
    "HessianEigenmaps": "spectral",
    "LaplacianEigenmaps": "spectral",
    "LTSA": "spectral",
    "Autoencoder": "autoencoders",
    "IRMAE": "autoencoders",
    "HessianAutoencoder": "autoencoders",
    "VAE": "autoencoders",
    "BetaVAE": "autoencoders",
    "AnnealedVAE": "autoencoders",
    "FactorVAE": "autoencoders",
    "BetaTCVAE": "autoencoders",
    "DIPVAE": "autoencoders",
    "NICE": "flows",
    "RealNVP": "flows",
    "GIN": "flows",
    "SelfSupervisedGIN": "flows",
    "Geomancer": "geometry",
    "evaluate": "evaluation",
    "load": "persistence",
}

__all__ = [*_HOMES, *_ROOMS, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"unbraid.{name}")
    if name in _HOMES:
        return getattr(import_module(f"unbraid.{_HOMES[name]}"), name)
    raise AttributeError(f"unbraid has no {name!r}; it has: {', '.join(sorted(__all__))}")


def __dir__() -> list[str]:
    return sorted(__all__)
