"""The one table of methods: what there is, where it lives, what it needs.

The public names of :mod:`unbraid`, the command line and its help, the docs' table, saved runs, studies and the contract
test read it. A new method is its module, a line here, its tests and its paragraph in the docs.
"""

import os
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import signature
from typing import Any

GROUP = "unbraid.methods"  # entry points of methods that other distributions bring
EVIDENCE = ("labels", "pairs", "time", "sets", "covariates")  # what can be known about rows and used by a fit


@dataclass(frozen=True)
class Method:
    """A line of the table.

    Attributes
    ----------
    estimator : str
        The class, a public name of :mod:`unbraid`.
    module : str
        The module it lives in, below ``unbraid``.
    title : str
        How people write it.
    about : str
        What it is for, in a few words.
    uses : tuple of str
        What ``fit`` takes besides X, of :data:`EVIDENCE`: labels as ``y``, all else as keywords of the same names.
    needs : tuple of str
        The part of ``uses`` without which there is no fit, and "torch".
    trained : bool
        Whether it is trained step by step, so that it has steps, a checkpoint and a history.
    decodes : bool
        Whether it has ``inverse_transform``.
    fits : bool
        Whether ``unbraid fit`` offers it; the embeddings alone are for Python users.
    theorem : str
        The entry of :data:`unbraid.trust.theorems.THEOREMS` that covers it with its default parameters; "none" where
        nothing is proven.
    """

    estimator: str
    module: str
    title: str
    about: str
    uses: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    trained: bool = False
    decodes: bool = True
    fits: bool = True
    theorem: str = "none"

    @property
    def family(self) -> str:
        """The room: "spectral", "autoencoders", "contrastive", "flows", "geometry" or "product"."""
        return self.module.partition(".")[0]

    def load(self) -> Any:
        """The class. Without torch, a method that needs it says which install brings it."""
        if "torch" in self.needs:
            from unbraid.runtime.extras import require

            require("torch", "torch")
        return getattr(import_module(f"unbraid.{self.module}"), self.estimator)


def _trained(
    estimator: str,
    module: str,
    title: str,
    about: str,
    *,
    uses: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    decodes: bool = True,
    theorem: str = "none",
) -> Method:
    needs = (*needs, "torch")
    return Method(estimator, module, title, about, uses, needs, trained=True, decodes=decodes, theorem=theorem)


COVARIATES = "covariates"  # which say what is no factor; all other evidence says what is one
CONDITIONED = (COVARIATES,)  # inputs of encoder and decoder
ROTATED = ("labels", "pairs", "time", COVARIATES)  # by one of the first the codes of an embedding can be turned


METHODS: dict[str, Method] = {
    "hessian-ica": Method(
        "HessianICA",
        "spectral.factors",
        "HLLE+ICA",
        "smooth data with one to about five factors; the method with a proof",
        uses=ROTATED,
        theorem="horan",
    ),
    "tangent-ica": Method(
        "TangentICA",
        "spectral.factors",
        "LTSA+ICA",
        "few points; data on which HLLE collapses",
        uses=ROTATED,
        theorem="horan",
    ),
    "geodesic-ica": Method(
        "GeodesicICA",
        "spectral.factors",
        "Isomap+ICA",
        "a few hundred pictures without holes among them",
        uses=ROTATED,
        theorem="horan",
    ),
    "laplacian-ica": Method(
        "LaplacianICA", "spectral.factors", "LEM+ICA", "never collapses; bends factors into cosines", uses=ROTATED
    ),
    "pca-ica": Method(
        "PCAICA",
        "spectral.pca_ica",
        "PCA+ICA",
        "linear mixtures, and the baseline to beat",
        uses=ROTATED,
        theorem="comon",
    ),
    "hessian-eigenmaps": Method(
        "HessianEigenmaps",
        "spectral.embeddings",
        "HLLE",
        "the factors up to a linear map",
        fits=False,
        theorem="flat-embedding",
    ),
    "ltsa": Method(
        "LTSA", "spectral.embeddings", "LTSA", "the factors up to a linear map", fits=False, theorem="flat-embedding"
    ),
    "laplacian-eigenmaps": Method(
        "LaplacianEigenmaps", "spectral.embeddings", "LEM", "the slowest functions on the data", fits=False
    ),
    "hessian-autoencoder": _trained(
        "HessianAutoencoder",
        "autoencoders.hessian_autoencoder",
        "Hessian autoencoder",
        "HLLE+ICA with an encoder and a decoder: new images in, images out",
        theorem="horan",
    ),
    "autoencoder": _trained("Autoencoder", "autoencoders.autoencoder", "Autoencoder", "the baseline that reconstructs"),
    "irmae": _trained("IRMAE", "autoencoders.irmae", "IRMAE", "an autoencoder that finds its own small rank"),
    "vae": _trained("VAE", "autoencoders.vae", "VAE", "the baseline of the variational ones", uses=CONDITIONED),
    "beta-vae": _trained("BetaVAE", "autoencoders.beta_vae", "beta-VAE", "a heavier KL term", uses=CONDITIONED),
    "annealed-vae": _trained(
        "AnnealedVAE", "autoencoders.annealed_vae", "AnnealedVAE", "a KL term that is let grow", uses=CONDITIONED
    ),
    "factor-vae": _trained(
        "FactorVAE", "autoencoders.factor_vae", "FactorVAE", "total correlation by a discriminator", uses=CONDITIONED
    ),
    "beta-tcvae": _trained(
        "BetaTCVAE", "autoencoders.beta_tcvae", "beta-TCVAE", "a heavier total correlation", uses=CONDITIONED
    ),
    "dip-vae": _trained(
        "DIPVAE", "autoencoders.dip_vae", "DIP-VAE", "codes of unit covariance, two kinds", uses=CONDITIONED
    ),
    "additive-autoencoder": _trained(
        "AdditiveAutoencoder",
        "autoencoders.additive",
        "additive autoencoder",
        "sums of parts, such as objects; factors may depend on each other",
        theorem="additive",
    ),
    "additive-vae": _trained(
        "AdditiveVAE",
        "autoencoders.additive",
        "additive VAE",
        "the same with superfluous parts switched off",
        theorem="additive",
    ),
    "ada-gvae": _trained(
        "AdaGVAE",
        "autoencoders.ada_gvae",
        "Ada-GVAE",
        "factors from pairs that differ in few of them",
        uses=("pairs", COVARIATES),
        needs=("pairs",),
        theorem="weak-pairs",
    ),
    "contrastive": _trained(
        "Contrastive",
        "contrastive.estimator",
        "contrastive learning",
        "factors from rows that belong together: in time, pairs, sets or classes",
        uses=("labels", "pairs", "time", "sets"),
        decodes=False,
        theorem="infonce",
    ),
    "ivae": _trained(
        "IVAE",
        "autoencoders.ivae",
        "iVAE",
        "factors whose distribution changes with a condition",
        uses=("labels", COVARIATES),
        needs=("labels",),
        theorem="ivae",
    ),
    "slow-vae": _trained(
        "SlowVAE",
        "autoencoders.slow_vae",
        "SlowVAE",
        "factors that change rarely from one row to the next in time",
        uses=("time", COVARIATES),
        needs=("time",),
        theorem="slow",
    ),
    "nice": _trained(
        "NICE",
        "flows.estimators",
        "NICE",
        "an additive flow; a density and a condition",
        uses=("labels",),
        theorem="conditional-flow",
    ),
    "realnvp": _trained(
        "RealNVP",
        "flows.estimators",
        "RealNVP",
        "an affine flow; a density and a condition",
        uses=("labels",),
        theorem="conditional-flow",
    ),
    "gin": _trained(
        "GIN",
        "flows.estimators",
        "GIN",
        "factors from data with a condition",
        uses=("labels",),
        needs=("labels",),
        theorem="gin",
    ),
    "self-supervised-gin": _trained(
        "SelfSupervisedGIN",
        "flows.selfsupervised",
        "self-supervised GIN",
        "factors from data with augmentations",
        uses=("sets",),
        theorem="augmentations",
    ),
    "geomancer": Method(
        "Geomancer",
        "geometry.estimator",
        "GEOMANCER",
        "factors that are whole submanifolds, such as rotations",
        decodes=False,
        theorem="geomancer",
    ),
    "product-manifold": Method(
        "ProductManifold",
        "product.estimator",
        "product manifold",
        "factors that wrap around: angles, phases and directions, beside positions",
        theorem="product",
    ),
}


@dataclass(frozen=True)
class OwnMethod(Method):
    """A class of the user's, in any module: ``fit(X)``, ``transform(X)`` and parameters as scikit-learn has them."""

    def load(self) -> Any:
        """The class; a module in the working directory is found too."""
        return _own_class(self.module, self.estimator)


def method_of(name: str) -> Method:
    """The method of a name, of ``module:Class`` or of an entry point ``unbraid.methods``, or an error that lists them.

    >>> method_of("gin").family, method_of("sklearn.decomposition:FastICA").title
    ('flows', 'FastICA')
    """
    if name in METHODS:
        return METHODS[name]
    module, colon, cls = name.partition(":")
    if colon:
        return _own_method(module, cls)
    found = _offered_elsewhere()
    if name in found.names:
        return _own_method(found[name].module, found[name].attr)
    known = ", ".join([*METHODS, *sorted(found.names)])
    raise ValueError(f"there is no method {name!r}. Valid methods: {known}; module:Class for one of your own.")


def _offered_elsewhere() -> Any:
    from importlib.metadata import entry_points  # slow, and seldom needed

    return entry_points(group=GROUP)


def is_own(method: Method) -> bool:
    """Whether a method is a class that does not read data as those of this package do."""
    return isinstance(method, OwnMethod) and not hasattr(method.load(), "_read")


@cache
def _own_method(module: str, name: str) -> OwnMethod:
    """What the table would say of a class: of one that inherits from a method, what it says of that."""
    cls = _own_class(module, name)
    lacks = [needed for needed in ("fit", "transform", "get_params") if not hasattr(cls, needed)]
    if lacks:
        raise ValueError(
            f"{module}:{name} has no {', no '.join(lacks)}; a method has fit, transform and get_params, as "
            "scikit-learn's BaseEstimator gives it."
        )
    parent = method_of_class(cls)
    return OwnMethod(
        name,
        module,
        title=name,
        about=(cls.__doc__ or "").strip().partition("\n")[0],
        uses=uses_of(cls),
        needs=parent.needs if parent else (),
        trained=bool(parent and parent.trained),
        decodes=hasattr(cls, "inverse_transform"),
    )


def _own_class(module: str, name: str) -> Any:
    from importlib.util import find_spec

    here = os.getcwd()
    if find_spec(module.partition(".")[0]) is None and here not in sys.path:
        sys.path.append(here)  # of a script that is installed, the working directory is not on the path
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"the method {module}:{name} cannot be loaded ({error}). It must be module:Class, with a module that "
            f"Python finds, installed or in {here}."
        ) from error


def estimators_of(family: str | None = None) -> dict[str, Method]:
    """The methods of a family, or all, by the names of their classes.

    >>> list(estimators_of("geometry"))[0]
    'Geomancer'
    """
    return {method.estimator: method for method in METHODS.values() if family in (None, method.family)}


def method_of_class(cls: type) -> Method | None:
    """The method of a class or of the nearest of its parents that is in the table; None where none is.

    >>> class HessianICA: ...
    >>> class Mine(HessianICA): ...
    >>> method_of_class(Mine).title
    'HLLE+ICA'
    """
    by_class = estimators_of()
    return next((by_class[parent.__name__] for parent in cls.__mro__ if parent.__name__ in by_class), None)


def uses_of(cls: Any) -> tuple[str, ...]:
    """What the ``fit`` of a class uses besides X: by the table, or by the keywords of ``fit`` where it has no line."""
    method = method_of_class(cls)
    return method.uses if method else tuple(name for name in EVIDENCE if name in signature(cls.fit).parameters)


def methods_using(evidence: str) -> list[str]:
    """The names of the methods whose fit uses a piece of evidence.

    >>> methods_using("sets")
    ['contrastive', 'self-supervised-gin']
    """
    return [name for name, method in METHODS.items() if evidence in method.uses]
