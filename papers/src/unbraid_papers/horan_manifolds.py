"""The image manifolds of Horan et al. (2021) and the methods that are compared on them."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA, FastICA
from sklearn.linear_model import LinearRegression
from sklearn.manifold import LocallyLinearEmbedding, SpectralEmbedding
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import unbraid as ub
from unbraid.manifold.neighbors import closest_pairs
from unbraid_papers.bench import Bench
from unbraid_papers.paper import Cell

SHAPES = ("shapes-xy", "shapes-xc")
FFHQ = ("ffhq 0, 1", "ffhq 2, 3", "ffhq 4, 5", "ffhq 6, 7", "ffhq 8, 9", "ffhq 0, 1, 2")  # the first is the paper's
FFHQ_128 = "ffhq 0, 1 (128px)"  # the same faces at twice the side
DCGAN = ("DCGAN 0, 1", "DCGAN 2, 3", "DCGAN 4, 5")
STYLEGAN = ("cat1", "cat2", "horse", "car", "kitchen", "bedroom", "church")
TO_THE_LETTER = "HLLE+fastICA"  # the paper's algorithm: no LTSA term, fastICA with u^4
CLASSICAL = ("HLLE+ICA", TO_THE_LETTER, "PCA", "PCA+ICA")
OURS = "HessianICA"  # as the library has it: its own choice of k, and of evened pictures
LABELLED = ("linear with labels", "k-NN with labels")
MORE = ("LEM+ICA", OURS, "LTSA+ICA", "Isomap+ICA", "FastICA", "scikit-learn, best k", *LABELLED, "chance")
PAPERS_HAE = "HAE, paper's loss"
NETS = ("HAE", PAPERS_HAE, "AE-2", "IRMAE-2", "VAE-2", "BetaVAE-2", "AE-128", "IRMAE-128", "VAE-128", "untrained")
SEEDS = range(5)
LEM_NEIGHBORS = (10, 20, 30, 50)
BEST_OF = (8, 12, 18, 25, 35, 50, 80)  # neighbours of scikit-learn's hessian; the labels choose
N_PICTURES = 3000  # of each manifold: the paper's number
DRAWN_HERE = FFHQ[0]  # the small scale draws these faces (three minutes); others only count where they are on disk


class Size(NamedTuple):
    """How large an experiment is: faces of ffhq, unseen images, sides of images, and the training of networks."""

    n_ffhq: int
    n_unseen: int
    side: int | None
    side_ffhq: int
    preset: str
    steps: int
    steps_hae: int


SIZES = {
    "small": Size(800, 200, 32, 64, "patches", 1_250, 1_250),  # 100 passes over 800 faces, 64 at a time
    "paper": Size(3000, 500, None, 128, "paper", 4_700, 47_000),  # 100 and 1000 passes over 3000 images
}
STEPS_SQUARES = 200  # of networks on squares at the small scale


class Images(NamedTuple):
    """Images as bytes and their factors: those to learn from, and others."""

    X: NDArray[np.uint8]
    factors: NDArray[np.float64]
    X_unseen: NDArray[np.uint8]
    factors_unseen: NDArray[np.float64]


def classical_cells(scale: str) -> list[Cell]:
    """Faces of 3,000 images take the textbook's LEM and scikit-learn minutes: those are for ffhq and squares."""
    faces = (*FFHQ, FFHQ_128) if scale == "small" else FFHQ
    more = _cells(SHAPES, MORE[:1]) + _cells(faces, MORE)
    return (
        _cells((*SHAPES, *faces, *DCGAN), CLASSICAL) + more + (_cells(STYLEGAN, CLASSICAL) if scale == "paper" else [])
    )


def network_cells(scale: str) -> list[Cell]:
    """The small scale has one of squares and the paper's own of faces, three samples each."""
    if scale == "small":
        return _cells((SHAPES[0], FFHQ[0]), NETS, SEEDS[:3])
    pairs = tuple(m for m in FFHQ if n_factors_of(m) == 2)
    return _cells((*SHAPES, *pairs, *DCGAN, *STYLEGAN), NETS)


def n_factors_of(manifold: str) -> int:
    """Number of factors, two but for a triple of components.

    >>> n_factors_of("ffhq 0, 1, 2"), n_factors_of("shapes-xy")
    (3, 2)
    """
    return len(components_of(manifold)) or 2


def components_of(manifold: str) -> tuple[int, ...]:
    """The components in the name of a manifold of faces."""
    return tuple(int(word) for word in manifold.replace(",", "").split() if word.isdecimal())


def _cells(manifolds: tuple[str, ...], methods: tuple[str, ...], seeds: range = SEEDS) -> list[Cell]:
    return [{"manifold": m, "seed": seed, "method": method} for m in manifolds for seed in seeds for method in methods]


@lru_cache(maxsize=32)
def images_of(manifold: str, seed: int, bench: Bench) -> Images:
    """A sample of the manifold for each seed, in bytes as images are stored.

    Samples are fresh, but for ffhq: its faces are slow to draw, so seeds draw sub-samples, four in five, of one sample.
    """
    size = SIZES[bench.scale]
    if manifold in (*FFHQ, FFHQ_128):
        X, factors = _ffhq(manifold, bench)
        order = np.random.default_rng(seed).permutation(len(X))
        X, factors, n = X[order], factors[order], size.n_ffhq
    else:
        n = N_PICTURES
        X, factors = _source(manifold, bench).sample(n + size.n_unseen, random_state=seed)
        X = np.rint(255 * X).astype(np.uint8)
    return Images(X[:n], factors[:n], X[n:], factors[n:])


@lru_cache(maxsize=1)
def _ffhq(manifold: str, bench: Bench) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Faces of StyleGAN2 along components of its W; an interrupted drawing goes on where it was."""
    size = SIZES[bench.scale]
    side, components = 128 if manifold == FFHQ_128 else size.side_ffhq, components_of(manifold)
    faces = ub.datasets.load("gan-manifold", generator="ffhq", components=components, image_size=side)
    n = size.n_ffhq + size.n_unseen
    there = faces.n_drawn(n, 0)
    if bench.scale == "small" and there < n and components != components_of(DRAWN_HERE):
        raise FileNotFoundError(
            f"{there} of {n} faces of {manifold} are on disk; the small scale draws {DRAWN_HERE} only (.15 CPU "
            f"seconds each): datasets.load('gan-manifold', generator='ffhq', components={components}, "
            f"image_size=128).sample({n}, random_state=0) draws them, --scale paper all."
        )
    X, factors = faces.sample(n, random_state=0)
    return np.rint(255 * X).astype(np.uint8), factors


@lru_cache(maxsize=1)
def _source(manifold: str, bench: Bench) -> Any:
    side = SIZES[bench.scale].side
    if manifold in SHAPES:
        return ub.datasets.load(manifold, image_size=side or 64)
    if manifold in DCGAN:
        weights = bench.find("digiface_dcgan64.pt", what="the DCGAN of faces")
        return ub.datasets.load(
            "gan-manifold", weights=weights, components=components_of(manifold), image_size=side or 64
        )
    subject = manifold.rstrip("12")
    names = (f"stylegan2-{subject}.pt", f"stylegan2-{subject}.pkl")
    weights = bench.find(*names, what=f"StyleGAN2's generator for {subject}")
    return ub.datasets.load("gan-manifold", weights=weights, manifold=manifold, image_size=side or 256)


def try_classical(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """One spectral or linear method on one sample."""
    images, method, seed = images_of(cell["manifold"], cell["seed"], bench), cell["method"], cell["seed"]
    d = n_factors_of(cell["manifold"])
    if method in ALONE:
        return _scored(cell, images, ALONE[method](images, d, seed), None, bench)
    if method in LABELLED:
        linear = make_pipeline(PCA(50, svd_solver="randomized", random_state=0), LinearRegression())
        model = linear if method == LABELLED[0] else KNeighborsRegressor(5, weights="distance")
        guessed = model.fit(as_rows(images.X), images.factors).predict(as_rows(images.X_unseen))
        return {"mcc": ub.metrics.mcc(images.factors_unseen, guessed)}
    encode = _encoder(method, images.X, d, seed)
    return _scored(cell, images, encode(images.X), encode(images.X_unseen), bench)


def try_network(cell: Cell, bench: Bench) -> Mapping[str, Any]:
    """One network on one sample: what its codes are worth, and how it decodes."""
    images = images_of(cell["manifold"], cell["seed"], bench)
    model = trained(cell, images, bench)
    codes, unseen = two_codes(model.transform(images.X), model.transform(images.X_unseen))
    if cell["method"].endswith("128"):
        return _scored(cell, images, codes, unseen, bench)
    found = _scored(cell, images, codes, unseen, bench, strip=strip(model, images))
    if cell["method"] == "VAE-2":
        found["dead"] = int((np.asarray(model.kl_) < 0.05).sum())
    return found | decoding(model, images, cell["seed"])


def _scored(
    cell: Cell, images: Images, codes: NDArray, unseen: NDArray | None, bench: Bench, **kept: NDArray
) -> dict[str, Any]:
    """MCC and local isometry of the codes; those of the first sample are kept for the pictures."""
    if cell["seed"] == 0:
        i, j, lengths = closest_pairs(as_rows(images.X[:300]).astype(np.float64), 0.05)
        near = {"pairs": np.stack([i, j]), "lengths": lengths}
        bench.keep(cell, codes=np.asarray(codes, np.float32), factors=images.factors, **near, **kept)
    found: dict[str, Any] = {
        "mcc": ub.metrics.mcc(images.factors, codes),
        "mcc_rank": ub.metrics.mcc(images.factors, codes, kind="spearman"),
        "best_map": best_map(images.factors, codes),
        "best_quadratic": best_map(images.factors, codes, degree=2),
        "isometry": ub.metrics.local_isometry(images.X, codes, pairs="closest", max_points=300),
    }
    if unseen is not None:
        found["mcc_unseen"] = ub.metrics.mcc(images.factors_unseen, unseen)
    return found


def best_map(factors: NDArray, codes: NDArray, degree: int = 1) -> float:
    """The MCC that the best linear map of the codes would have: what ICA cannot lose is in the embedding.

    Of degree 2 it is the best quadratic map: what that gains, the embedding has bent.

    >>> z = np.random.default_rng(0).normal(size=(2000, 2))
    >>> best_map(z, z @ np.array([[0.8, 0.6], [-0.6, 0.8]])) > 0.999
    True
    """
    design = PolynomialFeatures(degree).fit_transform(codes / np.maximum(codes.std(axis=0), 1e-12))
    fitted = design @ np.linalg.lstsq(design, factors, rcond=None)[0]
    return float(np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(factors.T, fitted.T)]))


def _encoder(method: str, X: NDArray, d: int, seed: int) -> Callable[[NDArray], NDArray]:
    if method == "PCA":
        pca = PCA(d, svd_solver="randomized", random_state=seed).fit(as_rows(X))
        return lambda X: pca.transform(as_rows(X))
    options: dict[str, Any] = {"random_state": seed}
    papers = options | {"selection": "closest", "units": "given"}  # k by the paper's rule, distances of the pixels
    models = {
        "HLLE+ICA": lambda: ub.HessianICA(d, **papers),
        TO_THE_LETTER: lambda: ub.HessianICA(d, tangent_weight=0.0, rotation="fastica", **papers),
        OURS: lambda: ub.HessianICA(d, **options),
        "LTSA+ICA": lambda: ub.TangentICA(d, **papers),
        "Isomap+ICA": lambda: ub.GeodesicICA(d, **options),
        "PCA+ICA": lambda: ub.PCAICA(d, **options),
    }
    encode: Callable[[NDArray], NDArray] = models[method]().fit(X).transform
    return encode


def of_pixels(images: Images, d: int, seed: int) -> NDArray:
    """fastICA of the pixels, as scikit-learn has it."""
    return FastICA(d, whiten="unit-variance", max_iter=1000, random_state=seed).fit_transform(as_rows(images.X))


def best_of_scikit_learn(images: Images, d: int, seed: int) -> NDArray:
    """scikit-learn's "hessian" and fastICA at the k that is best for the labels: no user can choose it."""
    Z = PCA(50, svd_solver="randomized", random_state=0).fit_transform(as_rows(images.X))
    found = []
    for k in (k for k in BEST_OF if k > d * (d + 3) / 2):
        embed = LocallyLinearEmbedding(n_neighbors=k, n_components=d, method="hessian", eigen_solver="dense")
        ica = FastICA(d, whiten="unit-variance", max_iter=1000, random_state=seed)
        found.append(ica.fit_transform(embed.fit_transform(Z)))
    return max(found, key=lambda codes: ub.metrics.mcc(images.factors, codes))


def shuffled(images: Images, d: int, seed: int) -> NDArray:
    """Factors of other images: what an MCC of nothing is."""
    return images.factors[np.random.default_rng(seed).permutation(len(images.factors))]


def as_rows(X: NDArray) -> NDArray:
    """Images in bytes as vectors in [0, 1], in single precision."""
    return X.reshape(len(X), -1).astype(np.float32) / np.float32(255)


def textbook_lem(X: NDArray, seed: int, neighbors: tuple[int, ...] = LEM_NEIGHBORS, d: int = 2) -> NDArray[np.float64]:
    """The slowest eigenvectors and fastICA; k by the paper's score of local isometry.

    The library's own ``LaplacianICA`` passes over eigenvectors that are functions of earlier ones.
    """
    Z = PCA(50, svd_solver="randomized", random_state=0).fit_transform(as_rows(X))
    best, kept = -np.inf, np.empty((0, d))
    for k in neighbors:
        embed = SpectralEmbedding(d, affinity="nearest_neighbors", n_neighbors=k, random_state=seed)
        codes = FastICA(d, fun="cube", whiten="unit-variance", random_state=seed).fit_transform(embed.fit_transform(Z))
        score = ub.metrics.local_isometry(Z, codes, pairs="closest", max_points=300) if len(neighbors) > 1 else 0.0
        if score > best:
            best, kept = score, codes
    return kept


ALONE: dict[str, Callable[[Images, int, int], NDArray]] = {  # methods without codes of unseen images
    "LEM+ICA": lambda images, d, seed: textbook_lem(images.X, seed, d=d),
    "FastICA": of_pixels,
    "scikit-learn, best k": best_of_scikit_learn,
    "chance": shuffled,
}


def trained(cell: Cell, images: Images, bench: Bench) -> Any:
    """A network of the paper; all have the same encoder and decoder."""
    kind, _, width = cell["method"].partition("-")
    size = SIZES[bench.scale]
    options: dict[str, Any] = {"preset": size.preset, "random_state": cell["seed"], "progress": bench.progress}
    steps = size.steps_hae if "HAE" in kind else size.steps
    options |= {"max_steps": STEPS_SQUARES if bench.scale == "small" and cell["manifold"] in SHAPES else steps}
    if kind == "untrained":
        return ub.Autoencoder(2, **options | {"max_steps": 1, "learning_rate": 1e-12}).fit(images.X)
    options["checkpoint"] = bench.checkpoint(cell)
    if "HAE" in kind:
        teacher = ub.HessianICA(2, selection="closest", units="given", random_state=cell["seed"])
        standardise = kind != PAPERS_HAE
        return ub.HessianAutoencoder(2, teacher=teacher, standardise=standardise, **options).fit(images.X)
    if kind == "BetaVAE":
        return ub.BetaVAE(int(width), beta=4.0, **options).fit(images.X)
    return {"AE": ub.Autoencoder, "IRMAE": ub.IRMAE, "VAE": ub.VAE}[kind](int(width), **options).fit(images.X)


def two_codes(codes: NDArray, unseen: NDArray) -> tuple[NDArray, NDArray]:
    """A bottleneck of 128 is brought to two codes by fastICA, as the paper does."""
    if codes.shape[1] == 2:
        return codes, unseen
    ica = FastICA(2, whiten="unit-variance", random_state=0, max_iter=1000).fit(codes.astype(float))
    return ica.transform(codes.astype(float)), ica.transform(unseen.astype(float))


def decoding(model: Any, images: Images, seed: int, n_pairs: int = 20, n_steps: int = 17) -> dict[str, float]:
    """Reconstruction of unseen images, and how images change along straight lines between codes.

    ``error`` is the squared error as a share of the images' variance. ``jump`` is the largest of the steps between
    neighbouring images over their mean: 1 where the images change evenly. ``astray`` is the squared distance of a
    decoded image to the nearest real one, as a share of the variance.
    """
    X, X_unseen = as_rows(images.X), as_rows(images.X_unseen)
    variance = float(X.var(axis=0).sum())
    back = np.asarray(model.reconstruct(images.X_unseen)).reshape(X_unseen.shape)
    codes = model.transform(images.X_unseen)
    ends = np.random.default_rng(seed).choice(len(codes), (n_pairs, 2), replace=False)
    paths = np.stack([path(model, codes[i], codes[j], n_steps) for i, j in ends])
    steps = np.linalg.norm(np.diff(paths, axis=1), axis=2)
    flat = paths.reshape(-1, X.shape[1])
    squares = (flat**2).sum(axis=1)[:, None] + (X**2).sum(axis=1) - 2 * flat @ X.T
    return {
        "error": float(np.square(back - X_unseen).sum(axis=1).mean() / variance),
        "jump": float((steps.max(axis=1) / np.maximum(steps.mean(axis=1), 1e-12)).mean()),
        "astray": float(np.maximum(squares.min(axis=1), 0).mean() / variance),
    }


def path(model: Any, left: NDArray, right: NDArray, n_steps: int) -> NDArray:
    """Decoded images on the straight line between two codes, as vectors in [0, 1]."""
    decoded = ub.report.interpolate(model.inverse_transform, left, right, n_steps=n_steps)
    return np.asarray(decoded, np.float32).reshape(n_steps, -1)


def strip(model: Any, images: Images, n_steps: int = 9) -> NDArray[np.uint8]:
    """The images between two unseen ones near opposite corners, real ends included."""
    factors = images.factors_unseen
    corners = [np.quantile(factors, q, axis=0) for q in (0.1, 0.9)]
    low, high = (int(np.argmin(np.square(factors - c).sum(axis=1))) for c in corners)
    codes = model.transform(images.X_unseen[[low, high]])
    decoded = np.rint(255 * np.clip(path(model, codes[0], codes[1], n_steps), 0, 1)).astype(np.uint8)
    real = images.X_unseen
    return np.concatenate([real[low][None], decoded.reshape(n_steps, *real.shape[1:]), real[high][None]])
