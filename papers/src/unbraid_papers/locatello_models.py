"""Theorem 1 on trained models: a VAE and its entangled twin, of equal loss, before scores with and without labels.

The prior of a VAE is a standard normal, for which the theorem's map is a rotation A. The twin encodes to
N(A mu, A Sigma A') and decodes A' z. Reconstruction, divergence and ELBO of every picture are the same, and so is every
sample from the prior. What differs is that A Sigma A' is not diagonal: the one thing that an encoder with a diagonal
covariance does not allow.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from unbraid import metrics
from unbraid.evaluation.claims import Part
from unbraid.theory import mixing_matrix
from unbraid_papers.paper import Cell, Experiment, PaperClaim, Results, mean_part
from unbraid_papers.sprites import pictures

if TYPE_CHECKING:
    from unbraid_papers.bench import Bench

DEAD = 0.01  # nats; codes that carry no more are left as they are
N_TEST = 5000
UNSUPERVISED = {
    "elbo": "ELBO", "reconstruction": "reconstruction", "kl": "divergence",
    "tc_sampled": "TC, sampled", "tc_mean": "TC, mean", "wasserstein": "Wasserstein correlation, sampled",
    "pairwise": "pairwise information, sampled", "isometry": "local isometry",
}  # fmt: skip
OF_MEANS = {"tc_mean": "TC", "wasserstein": "Wasserstein correlation", "pairwise": "pairwise information",
            "isometry": "local isometry"}  # fmt: skip
SUPERVISED = {"mig": "MIG", "dci": "DCI disentanglement", "sap": "SAP", "modularity": "Modularity"}


def model_cells(scale: str) -> list[Cell]:
    size = {"image_size": 32, "steps": 800, "rate": 2e-3} if scale == "small" else {
        "image_size": 64, "steps": 300_000, "rate": 1e-4}  # fmt: skip
    return [{"model": "beta-TCVAE", "beta": 4, **size, "seed": seed} for seed in range(5)]


def trained(cell: Cell, bench: "Bench") -> Any:
    """The model of a cell; once it is trained, it is read from its checkpoint."""
    from unbraid import BetaTCVAE

    size = cell["image_size"]
    return BetaTCVAE(
        10, beta=cell["beta"], preset="small" if size == 32 else "paper", max_steps=cell["steps"],
        learning_rate=cell["rate"], random_state=cell["seed"], checkpoint=bench.checkpoint(cell),
        progress=bench.progress,
    ).fit(pictures(size, 50_000, 0)[0])  # fmt: skip


def turn_of(live: np.ndarray) -> np.ndarray:
    """The rotation that entangles the live codes with each other."""
    turned = np.eye(len(live))
    turned[np.ix_(live, live)] = mixing_matrix(int(live.sum()))
    return turned


def run_models(cell: Cell, bench: "Bench") -> Mapping[str, Any]:
    """Train, entangle the live codes, and score both."""
    model = trained(cell, bench)
    X, factors = pictures(cell["image_size"], N_TEST, 1)
    mean, log_variance = (part.astype(float) for part in model.encode(X))
    live = model.kl_ > DEAD
    turned = turn_of(live)
    noise = np.random.default_rng(cell["seed"]).normal(size=mean.shape)
    bench.keep(cell, mean=mean.astype(np.float32), live=live)
    found: dict[str, Any] = {"live": int(live.sum())}
    for name, matrix in (("plain", np.eye(len(live))), ("entangled", turned)):
        twin = Twin(model, matrix, mean, np.exp(log_variance))
        scores = twin.losses(X, noise) | twin.unsupervised(X, noise, live) | supervised(factors, twin.mean)
        found |= {f"{key} {name}": value for key, value in scores.items()}
    found["diagonal"] = Twin(model, turned, mean, np.exp(log_variance)).price_of_a_diagonal()
    return found


class Twin:
    """A VAE seen through a rotation of its codes."""

    def __init__(self, model: Any, matrix: np.ndarray, mean: np.ndarray, variance: np.ndarray):
        self.model, self.matrix = model, matrix
        self.spread = np.sqrt(variance)
        self.mean = mean @ matrix.T
        self.covariance = np.einsum("ij,nj,kj->nik", matrix, variance, matrix)

    def sampled(self, noise: np.ndarray) -> np.ndarray:
        """One draw for each picture, of the posterior with its whole covariance."""
        return self.mean + (self.spread * noise) @ self.matrix.T

    def losses(self, X: np.ndarray, noise: np.ndarray) -> dict[str, float]:
        """Means over the pictures, in nats: of the whole covariance, by its determinant and trace."""
        shown = np.clip(self.model.inverse_transform(self.sampled(noise) @ self.matrix), 1e-6, 1 - 1e-6)
        x = X / 255
        missing = -(x * np.log(shown) + (1 - x) * np.log1p(-shown)).reshape(len(x), -1).sum(axis=1).mean()
        trace = np.trace(self.covariance, axis1=1, axis2=2)
        determinant = np.linalg.slogdet(self.covariance)[1]
        kl = np.mean(trace + (self.mean**2).sum(axis=1) - self.mean.shape[1] - determinant) / 2
        return {"reconstruction": float(missing), "kl": float(kl), "elbo": float(-missing - kl)}

    def unsupervised(self, X: np.ndarray, noise: np.ndarray, live: np.ndarray) -> dict[str, float]:
        mean, sampled = self.mean[:, live], self.sampled(noise)[:, live]
        return {
            "tc_mean": metrics.total_correlation(mean),
            "tc_sampled": metrics.total_correlation(sampled),
            "wasserstein": metrics.wasserstein_correlation(sampled, normalised=True),
            "pairwise": metrics.pairwise_information(sampled),
            "isometry": metrics.local_isometry(X[:2000], mean[:2000]),
        }

    def price_of_a_diagonal(self) -> float:
        """Nats a picture that the closest diagonal posterior has more: sum log diag - log det, halved."""
        diagonal = np.diagonal(self.covariance, axis1=1, axis2=2)
        return float(np.mean(np.log(diagonal).sum(axis=1) - np.linalg.slogdet(self.covariance)[1]) / 2)


def supervised(factors: np.ndarray, codes: np.ndarray) -> dict[str, float]:
    """Scores with labels; DCI and SAP are trained on 1500 rows."""
    train, test = slice(1500), slice(1500, None)
    parts = factors[train], codes[train], factors[test], codes[test]
    return {
        "mig": metrics.mig(factors, codes),
        "sap": metrics.sap(*parts),
        "modularity": metrics.modularity(factors, codes),
        "dci": metrics.dci(*parts, backend="compiled").disentanglement,
    }


def run_strongest(cell: Cell, bench: "Bench") -> Mapping[str, Any]:
    """The same twin, except for the two codes whose means vary most; scores of the mean codes."""
    kept = bench.kept(cell)
    X, factors = pictures(cell["image_size"], N_TEST, 1)
    mean, live = kept["mean"].astype(float), kept["live"]
    two = np.argsort(mean.var(axis=0))[-2:]
    mixed = mean.copy()
    mixed[:, two] = mean[:, two] @ mixing_matrix(2).T
    found: dict[str, Any] = {}
    for name, codes in (("plain", mean), ("entangled", mixed)):
        scores = {
            "tc_mean": metrics.total_correlation(codes[:, live]),
            "wasserstein": metrics.wasserstein_correlation(codes[:, live], normalised=True),
            "pairwise": metrics.pairwise_information(codes[:, live]),
            "isometry": metrics.local_isometry(X[:2000], codes[:2000, live]),
        }
        found |= {f"{key} {name}": value for key, value in (scores | supervised(factors, codes)).items()}
    return found


def sibling_cells(scale: str) -> list[Cell]:
    return [{"models": len(model_cells(scale)), "image_size": model_cells(scale)[0]["image_size"]}]


def run_siblings(cell: Cell, bench: "Bench") -> Mapping[str, Any]:
    """UDR of the seeds as they are, and with the codes that they share entangled in one and the same way.

    Seeds order their codes and choose their signs at random. The codes of each are put in the order of the seed
    with the fewest live codes by their correlations, which needs no labels.
    """
    kept = [bench.kept(c) for c in model_cells(bench.scale)]
    codes = [k["mean"][:1000, k["live"]].astype(float) for k in kept]
    fewest = min(codes, key=lambda z: z.shape[1])
    n_codes = fewest.shape[1]
    aligned = [_in_the_order_of(fewest, z) for z in codes]
    one_way = [z @ mixing_matrix(n_codes).T for z in aligned]
    own_way = [z @ stats.ortho_group.rvs(n_codes, random_state=i).T for i, z in enumerate(aligned)]
    return {
        f"udr {name}": metrics.udr(group).scores.tolist()
        for name, group in (("plain", aligned), ("one way", one_way), ("own way", own_way))
    }


def _in_the_order_of(first: np.ndarray, codes: np.ndarray) -> np.ndarray:
    pairs = metrics.match(first, codes)
    order = pairs.code[np.argsort(pairs.factor)]
    sign = np.where(pairs.correlation[np.argsort(pairs.factor)] < 0, -1.0, 1.0)
    scaled = codes / codes.std(axis=0)
    return scaled[:, order] * sign


MODELS = Experiment(
    "twins",
    "beta-TCVAE (4) on dSprites, five seeds: 32 x 32 pictures and 800 steps in the small scale, 64 x 64 and the "
    "paper's 300,000 at its own. Each model has an entangled twin, a rotation of its live codes.",
    model_cells,
    run_models,
)
STRONGEST = Experiment(
    "strongest",
    "The same models with their two strongest codes alone turned by 45 degrees; the loss stays for the same reason.",
    model_cells,
    run_strongest,
)
SIBLINGS = Experiment(
    "siblings",
    "UDR, which compares seeds with each other: as they are, entangled in one way, and each in a way of its own.",
    sibling_cells,
    run_siblings,
)


def shifts(results: Results, names: Mapping[str, str], experiment: str = "twins") -> dict[str, Part]:
    """Twin less model, in standard deviations of the model over seeds, with an interval over seeds."""
    rows = results[experiment]
    return {title: shift(rows[f"{key} plain"], rows[f"{key} entangled"]) for key, title in names.items()}


def gaps(results: Results) -> dict[str, Part]:
    """Twin less model of the losses, in nats."""
    rows = results["twins"]
    losses = ("elbo", "reconstruction", "kl")
    return {UNSUPERVISED[k]: mean_part(rows[f"{k} entangled"] - rows[f"{k} plain"]) for k in losses}


def shift(plain: np.ndarray, entangled: np.ndarray) -> Part:
    """Mean of the paired differences over the standard deviation of the first."""
    return mean_part((entangled - plain) / plain.std(ddof=1))


def udr_shifts(results: Results) -> dict[str, Part]:
    row = next(iter(results["siblings"]))
    plain, others = np.array(row["udr plain"]), ("one way", "own way")
    return {f"all in {name}": shift(plain, np.array(row[f"udr {name}"])) for name in others}


TELLS = "shift from the model to its twin, in standard deviations over seeds"
LIKE = "we cannot distinguish from a distribution standpoint"
CLAIMS = (
    PaperClaim(
        "twin-same-loss",
        "A model and its entangled twin have the same loss.",
        "Theorem 1, what it implies", LIKE, "difference in nats", ("twins",), gaps, least=-0.01, most=0.01,
        why="Equal by construction where the posterior may have its whole covariance; the rest is rounding.",
    ),
    PaperClaim(
        "twin-without-labels",
        "No score without labels tells a model from its entangled twin.",
        "Theorem 1, what it implies", LIKE, TELLS, ("twins",), lambda results: shifts(results, UNSUPERVISED),
        least=-1.0, most=1.0,
        why="The losses do not. The codes do: the theorem keeps the prior, and the codes of these models do not have "
        "its law. Some spread wider than others, and a rotation of unequal codes makes them correlated.",
    ),
    PaperClaim(
        "twin-with-labels",
        "Scores with labels tell them apart.",
        "Theorem 1", "completely entangled", TELLS, ("twins",), lambda results: shifts(results, SUPERVISED), most=-1.0,
    ),
)  # fmt: skip
LATE = (
    "Tried after the whole twin had been seen. The two strongest codes spread alike, so their rotation keeps the law."
)
BEYOND = (
    PaperClaim(
        "strong-twin-without-labels",
        "No score without labels tells a model from a twin that mixes its two strongest codes.",
        "a twin that keeps prior and codes", "open", TELLS, ("strongest",),
        lambda results: shifts(results, OF_MEANS, "strongest"), least=-1.0, most=1.0,
        why=LATE,
    ),
    PaperClaim(
        "strong-twin-with-labels",
        "Scores with labels tell a model from that twin.",
        "a twin that keeps prior and codes", "open", TELLS, ("strongest",),
        lambda results: shifts(results, SUPERVISED, "strongest"), most=-1.0,
        why=LATE,
    ),
    PaperClaim(
        "udr-blind-to-twins",
        "UDR, which compares seeds, does not tell models from their entangled twins either.",
        "Duan et al. 2020", "open", TELLS, ("siblings",), udr_shifts, least=-1.0, most=1.0,
        why="UDR sees whether training prefers some axes, right or wrong: a bias that leads all seeds to the same "
        "entangled axes, and one that leads each seed to axes of its own.",
    ),
    PaperClaim(
        "diagonal-posterior-tells",
        "A diagonal posterior, a bias of the model, does tell them apart.",
        "section 4, inductive biases", "open", "nats a picture that the closest diagonal posterior of the twin costs",
        ("twins",), lambda results: {"": mean_part(results["twins"]["diagonal"])}, least=0.1,
    ),
)  # fmt: skip
