"""The methods that ``demo`` and ``fit`` know, and one timed fit of any of them."""

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import unbraid as ub

if TYPE_CHECKING:
    from unbraid.report.pages import Fitted

PAIRS_BYTES = 400_000_000
PAIRS_POINTS = 5000  # beyond this the search for neighbours would take longer than the fit


@dataclass(frozen=True)
class Method:
    """A name of the command line, the estimator behind it, and how people write it."""

    estimator: str
    title: str

    def make(self, **parameters: Any) -> Any:
        """The estimator, with those of the parameters that it takes."""
        maker = getattr(ub, self.estimator)
        known = maker().get_params()
        chosen = {k: v for k, v in parameters.items() if k in known and v is not None}
        if self.is_trained and chosen.get("n_factors") == "auto" != known["n_factors"]:
            del chosen["n_factors"]  # a network has a number of codes, and no way to estimate it
        return maker(**chosen)

    @property
    def is_trained(self) -> bool:
        """Whether it is trained step by step, so that it has steps and a checkpoint."""
        return "max_steps" in getattr(ub, self.estimator)().get_params()


METHODS = {
    "hessian-ica": Method("HessianICA", "HLLE+ICA"),
    "laplacian-ica": Method("LaplacianICA", "LEM+ICA"),
    "tangent-ica": Method("TangentICA", "LTSA+ICA"),
    "pca-ica": Method("PCAICA", "PCA+ICA"),
    "hessian-autoencoder": Method("HessianAutoencoder", "Hessian autoencoder"),
    "autoencoder": Method("Autoencoder", "Autoencoder"),
    "irmae": Method("IRMAE", "IRMAE"),
    "vae": Method("VAE", "VAE"),
    "beta-vae": Method("BetaVAE", "beta-VAE"),
    "annealed-vae": Method("AnnealedVAE", "AnnealedVAE"),
    "factor-vae": Method("FactorVAE", "FactorVAE"),
    "beta-tcvae": Method("BetaTCVAE", "beta-TCVAE"),
    "dip-vae": Method("DIPVAE", "DIP-VAE"),
}


def method_of(name: str) -> Method:
    """The method of a name, or an error that lists them."""
    if name not in METHODS:
        raise ValueError(f"there is no method {name!r}. Valid methods: {', '.join(METHODS)}.")
    return METHODS[name]


def fit_timed(method: Method, X: Any, factors: Any = None, **parameters: Any) -> "Fitted":
    """Fit, and measure what the report shows. Warnings go to the result: the command tells them in its own words."""
    from unbraid.contract.warnings import TrustWarning
    from unbraid.report.pages import Fitted
    from unbraid.spectral.selection import score

    model = method.make(**parameters)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        codes = model.fit_transform(X)
    seconds = time.perf_counter() - start
    selection = getattr(model, "selection_", None)
    scores = [] if selection is None else [_score(score, selection, c) for c in selection.candidates]
    agreement = None if factors is None else ub.metrics.mcc(factors, codes)
    lengths, found, isometry = _distances(model, X, codes)
    remarks = list(dict.fromkeys(str(w.message) for w in caught if not issubclass(w.category, TrustWarning)))
    return Fitted(method.title, model, codes, seconds, lengths, found, isometry, scores, agreement, remarks)


def _score(score: Any, selection: Any, candidate: Any) -> float:
    return score("edges" if selection.rule == "given" else selection.rule, candidate)


def _distances(model: Any, X: Any, codes: Any) -> tuple[Any, Any, float]:
    """Distances of neighbours: among all rows of a small data set, else among some anchors (or rows) of the model."""
    import numpy as np

    from unbraid.report.pages import nearby_distances

    features = int(np.prod(X.shape[1:]))
    most = max(200, min(PAIRS_POINTS, PAIRS_BYTES // (8 * features)))
    if len(X) <= most:
        return nearby_distances(X[:], codes)
    if hasattr(model, "maps_"):
        points, found = model.maps_.points, model.maps_.codes
        rows = _spread(len(points), PAIRS_POINTS)
        return nearby_distances(points[rows], found[rows])
    rows = _spread(len(X), most)
    return nearby_distances(X[rows], codes[rows])


def _spread(n: int, most: int) -> Any:
    import numpy as np

    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))
