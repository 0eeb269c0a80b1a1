"""The one table of methods: what there is, where it lives, what it needs.

The public names of :mod:`unbraid`, the command line and its help, the docs' table, saved runs, studies and the contract
test read it. A new method is its module, a line here, its tests and its paragraph in the docs.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Method:
    """A line of the table.

    Attributes
    ----------
    estimator : str
        The class, a public name of :mod:`unbraid`.
    home : str
        The module it lives in, below ``unbraid``.
    title : str
        How people write it.
    about : str
        What it is for, in a few words.
    needs : tuple of str
        Of "labels" (``fit`` takes a condition), "augmentations" (data come with changes that matter) and "torch".
    trained : bool
        Whether it is trained step by step, so that it has steps, a checkpoint and a history.
    decodes : bool
        Whether it has ``inverse_transform``.
    fits : bool
        Whether ``unbraid fit`` offers it; the embeddings alone are for Python users.
    """

    estimator: str
    home: str
    title: str
    about: str
    needs: tuple[str, ...] = ()
    trained: bool = False
    decodes: bool = True
    fits: bool = True

    @property
    def family(self) -> str:
        """The room: "spectral", "autoencoders", "flows" or "geometry"."""
        return self.home.partition(".")[0]

    @property
    def takes_labels(self) -> bool:
        """Whether ``fit`` takes a condition, needed or not."""
        return self.family == "flows" and "augmentations" not in self.needs

    def load(self) -> Any:
        """The class. Without torch, a method that needs it says which install brings it."""
        if "torch" in self.needs:
            from unbraid.runtime.extras import require

            require("torch", "torch")
        return getattr(import_module(f"unbraid.{self.home}"), self.estimator)


def _trained(estimator: str, home: str, title: str, about: str, *needs: str) -> Method:
    return Method(estimator, home, title, about, (*needs, "torch"), trained=True)


METHODS: dict[str, Method] = {
    "hessian-ica": Method(
        "HessianICA",
        "spectral.factors",
        "HLLE+ICA",
        "smooth data with one to about five factors; the method with a proof",
    ),
    "tangent-ica": Method("TangentICA", "spectral.factors", "LTSA+ICA", "few points; data on which HLLE collapses"),
    "laplacian-ica": Method(
        "LaplacianICA", "spectral.factors", "LEM+ICA", "never collapses; bends factors into cosines"
    ),
    "pca-ica": Method("PCAICA", "spectral.pca_ica", "PCA+ICA", "linear mixtures, and the baseline to beat"),
    "hessian-eigenmaps": Method(
        "HessianEigenmaps", "spectral.embeddings", "HLLE", "the factors up to a linear map", fits=False
    ),
    "ltsa": Method("LTSA", "spectral.embeddings", "LTSA", "the factors up to a linear map", fits=False),
    "laplacian-eigenmaps": Method(
        "LaplacianEigenmaps", "spectral.embeddings", "LEM", "the slowest functions on the data", fits=False
    ),
    "hessian-autoencoder": _trained(
        "HessianAutoencoder",
        "autoencoders.hessian_autoencoder",
        "Hessian autoencoder",
        "HLLE+ICA with an encoder and a decoder: new images in, images out",
    ),
    "autoencoder": _trained("Autoencoder", "autoencoders.autoencoder", "Autoencoder", "the baseline that reconstructs"),
    "irmae": _trained("IRMAE", "autoencoders.irmae", "IRMAE", "an autoencoder that finds its own small rank"),
    "vae": _trained("VAE", "autoencoders.vae", "VAE", "the baseline of the variational ones"),
    "beta-vae": _trained("BetaVAE", "autoencoders.beta_vae", "beta-VAE", "a heavier KL term"),
    "annealed-vae": _trained("AnnealedVAE", "autoencoders.annealed_vae", "AnnealedVAE", "a KL term that is let grow"),
    "factor-vae": _trained("FactorVAE", "autoencoders.factor_vae", "FactorVAE", "total correlation by a discriminator"),
    "beta-tcvae": _trained("BetaTCVAE", "autoencoders.beta_tcvae", "beta-TCVAE", "a heavier total correlation"),
    "dip-vae": _trained("DIPVAE", "autoencoders.dip_vae", "DIP-VAE", "codes of unit covariance, two kinds"),
    "nice": _trained("NICE", "flows.estimators", "NICE", "an additive flow; a density and a condition"),
    "realnvp": _trained("RealNVP", "flows.estimators", "RealNVP", "an affine flow; a density and a condition"),
    "gin": _trained("GIN", "flows.estimators", "GIN", "factors from data with a condition", "labels"),
    "self-supervised-gin": _trained(
        "SelfSupervisedGIN",
        "flows.selfsupervised",
        "self-supervised GIN",
        "factors from data with augmentations",
        "augmentations",
    ),
    "geomancer": Method(
        "Geomancer",
        "geometry.estimator",
        "GEOMANCER",
        "factors that are whole submanifolds, such as rotations",
        decodes=False,
    ),
    "product-manifold": Method(
        "ProductManifold",
        "product.estimator",
        "product manifold",
        "factors that wrap around: angles, phases and directions, beside positions",
    ),
}


def method_of(name: str) -> Method:
    """The method of a name, or an error that lists them.

    >>> method_of("gin").family
    'flows'
    """
    if name not in METHODS:
        raise ValueError(f"there is no method {name!r}. Valid methods: {', '.join(METHODS)}.")
    return METHODS[name]


def estimators_of(family: str) -> dict[str, Method]:
    """The methods of a family by the names of their classes, which its room exports.

    >>> list(estimators_of("geometry"))[0]
    'Geomancer'
    """
    return {method.estimator: method for method in METHODS.values() if method.family == family}
