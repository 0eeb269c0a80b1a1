"""Horan, Richardson and Weiss (2021): local isometry and non-Gaussianity make disentanglement possible."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from unbraid.evaluation.claims import Part, part
from unbraid_papers import horan_figures as figures
from unbraid_papers.horan_limits import (
    RESCALED,
    STRETCHES,
    limit_cells,
    many_cells,
    measure_time,
    neighbor_cells,
    rescaling_cells,
    sphere_cells,
    time_cells,
    try_limit,
    try_many,
    try_neighbors,
    try_rescaled,
    try_sphere,
)
from unbraid_papers.horan_manifolds import (
    FFHQ,
    PAPERS_HAE,
    SHAPES,
    TO_THE_LETTER,
    classical_cells,
    network_cells,
    try_classical,
    try_network,
)
from unbraid_papers.paper import Drawing, Experiment, Paper, PaperClaim, Results, Rows, Table, mean_part

BASELINES = ("AE-2", "IRMAE-2", "VAE-2", "BetaVAE-2", "AE-128", "IRMAE-128", "VAE-128", "PCA")
Figure = Callable[[Results], dict[str, Part]]


def runs(results: Results) -> Rows:
    """Rows of the classical methods and of the networks, as far as they are there."""
    return Rows([*results.get("manifolds", ()), *results.get("networks", ())])


def mean_of(column: str, method: str, *manifolds: str) -> Figure:
    """Mean of a column over the seeds, one part per manifold (all of them unless some are named)."""

    def figure(results: Results) -> dict[str, Part]:
        rows = runs(results).where(method=method)
        chosen = rows.where(manifold=manifolds) if manifolds else rows
        return {manifold: mean_part(group[column]) for manifold, group in chosen.groups("manifold")}

    return figure


def differences(rows: Rows, column: str, left: str, right: str) -> np.ndarray:
    """Left less right, on the same sample; empty where one of them is not there."""
    a = {r["seed"]: r[column] for r in rows.where(method=left)}
    b = {r["seed"]: r[column] for r in rows.where(method=right)}
    return np.array([a[seed] - b[seed] for seed in a if seed in b])


def ahead(method: str, others: tuple[str, ...], column: str = "mcc", better: int = 1) -> Figure:
    """How far a method is ahead of the best of others, per manifold and on the same samples; -1: less is better."""

    def figure(results: Results) -> dict[str, Part]:
        parts = {}
        trained = set(results["networks"]["manifold"]) if "networks" in results else None  # the others lack baselines
        for manifold, rows in runs(results).groups("manifold"):
            if trained is not None and manifold not in trained:
                continue
            found = {other: better * differences(rows, column, method, other) for other in others}
            found = {other: values for other, values in found.items() if len(values)}
            if found:
                best = min(found, key=lambda other: found[other].mean())
                parts[f"{manifold} over {best}"] = mean_part(found[best])
        return parts

    return figure


def over_pca(results: Results) -> dict[str, Part]:
    """Each baseline less PCA: per seed the mean over the manifolds on which it was trained."""
    parts = {}
    for method in BASELINES[:-1]:
        groups = [rows for _, rows in runs(results).groups("manifold")]
        found = [values for rows in groups if len(values := differences(rows, "mcc", method, "PCA"))]
        if found:
            parts[method] = mean_part(np.mean(found, axis=0))
    return parts


def error_ratio(results: Results) -> dict[str, Part]:
    """Squared error of HAE, by the paper's loss, over that of the plain autoencoder."""
    parts = {}
    for manifold, rows in results["networks"].where(method=(PAPERS_HAE, "AE-2")).groups("manifold"):
        errors = [rows.where(method=m)["error"] for m in (PAPERS_HAE, "AE-2")]
        parts[manifold] = mean_part(errors[0] / errors[1])
    return parts


def fall(method: str) -> Figure:
    """What a method loses when the factors are rescaled, against the square field."""

    def figure(results: Results) -> dict[str, Part]:
        rows = results["rescaling"].where(method=method)
        square = rows.where(factors=STRETCHES[0])["mcc"]
        return {f: mean_part(square - rows.where(factors=f)["mcc"]) for f in STRETCHES[1:]}

    return figure


def regret(results: Results) -> dict[str, Part]:
    """The best score of any k, less that of the k with the highest local isometry."""
    return {
        manifold: part(rows["mcc"].max() - rows["mcc"][rows["isometry"].argmax()])
        for manifold, rows in results["neighbours"].groups("manifold")
    }


def seconds(results: Results) -> dict[str, Part]:
    return {"": part(results["times"].where(method="HLLE+ICA")["cpu"][0])}


def times_as_long(results: Results) -> dict[str, Part]:
    spent = [results["times"].where(method=m)["cpu"][0] for m in ("autoencoder", "HLLE+ICA")]
    return {"": part(spent[0] / spent[1])}


def limits_of(limit: str, unit: str, *at: float) -> Figure:
    def figure(results: Results) -> dict[str, Part]:
        rows = results["limits"].where(limit=limit, at=at)
        return {f"{value:g} {unit}": mean_part(group["mcc"]) for value, group in rows.groups("at")}

    return figure


def caps(results: Results) -> dict[str, Part]:
    return {f"{d} degrees": mean_part(rows["isometry"]) for d, rows in results["sphere"].groups("degrees")}


def many(results: Results) -> dict[str, Part]:
    return {f"{row['points']:,} points": part(row["mcc"]) for row in results["many"]}


def scores(results: Results) -> Iterator[tuple[Any, ...]]:
    """Mean and range over the seeds, of images that were learned from and of others."""
    for (manifold, method), rows in runs(results).groups("manifold", "method"):
        unseen = np.mean([row["mcc_unseen"] for row in rows]) if "mcc_unseen" in next(iter(rows)) else float("nan")
        mcc = rows["mcc"]
        shown = "–" if np.isnan(unseen) else f"{unseen:.3f}"
        further = ("mcc_rank", "best_map", "best_quadratic")
        found = [f"{rows[c].mean():.3f}" if c in next(iter(rows)) else "–" for c in further]
        interval = mean_part(mcc)
        half = f"{interval.low:.3f} to {interval.high:.3f}"
        yield manifold, method, f"{mcc.mean():.3f}", half, f"{mcc.min():.3f} to {mcc.max():.3f}", *found, shown


EXPERIMENTS = (
    Experiment(
        "manifolds",
        "Squares, faces of StyleGAN2 (ffhq) and of a DCGAN, by components of GANSpace; five samples each. 3,000 "
        "squares and DCGAN faces (small: 32 x 32). ffhq: small 800 faces of 64 x 64 (128px: of 128 x 128), "
        "sub-samples of 1,000; paper 3,000 of 128 x 128. HLLE+ICA is HessianICA with the paper's rule for k and "
        "distances of pixels; HessianICA is the default, which also tries pictures of one brightness and contrast; "
        "HLLE+fastICA is the paper's to the letter, without the LTSA term and by fastICA with u^4; LEM+ICA is "
        "scikit-learn's embedding and fastICA; 'scikit-learn, best k' is its hessian at the k that the labels choose.",
        classical_cells,
        try_classical,
        version=5,
    ),
    Experiment(
        "networks",
        "The same samples; small: three of them, ffhq 0, 1 with 100 passes over the 800 faces (1,250 steps of 64) and "
        "shapes-xy with 200 steps, preset 'patches'. Paper: 100 passes (HAE 1,000), preset 'paper'. BetaVAE has a beta "
        "of 4, 'untrained' the weights of the start. Every model has the same encoder and decoder; HAE's teacher is "
        "the HLLE+ICA above.",
        network_cells,
        try_network,
        version=4,
    ),
    Experiment(
        "rescaling",
        f"A square that moves over fields of several proportions, 1,000 images, for {', '.join(RESCALED)}; k by the "
        "paper's rule. (It was 20 for all at first: HLLE+ICA then lost .04 at 4 : 1.)",
        rescaling_cells,
        try_rescaled,
        version=2,
    ),
    Experiment("neighbours", "HLLE+ICA at six sizes of the neighbourhood.", neighbor_cells, try_neighbors, version=3),
    Experiment(
        "times",
        "3,000 colour images (64 x 64 at the small scale, 256 x 256 at the paper's), k = 30. The autoencoder's hour is "
        "100 passes, from the time of a few steps.",
        time_cells,
        measure_time,
    ),
    Experiment(
        "limits", "Fewer images, noise on every pixel, and isometric sheets of more factors.", limit_cells, try_limit
    ),
    Experiment("sphere", "1,000 points of a cap of a sphere, HLLE without ICA.", sphere_cells, try_sphere),
    Experiment("many", "Points of an isometric sheet, streamed in blocks.", many_cells, try_many),
)

FEWER = "800 faces of each manifold in place of 3,000."
SHORTER = "Networks of 100 passes over 800 faces, and of 200 steps on squares, in place of 100 (HAE 1,000) passes "
SHORTER += "over 3,000 images."
SMALLER = "Images of 64 x 64 in place of 256 x 256."

CLAIMS = (
    PaperClaim(
        "hlle-square",
        "HLLE+ICA recovers the two positions of a white square perfectly.",
        "Figure 3", "no figure: \"work perfectly even with finite data\"", "MCC", ("manifolds",),
        mean_of("mcc", "HLLE+ICA", "shapes-xy"), least=0.99,
    ),
    PaperClaim(
        "hlle-every-manifold",
        "HLLE+ICA finds a disentangled representation of every manifold.",
        "Figure 6", "no figure in the text; cat1 .9695 (figure 1)", "MCC", ("manifolds",),
        mean_of("mcc", "HLLE+ICA", *SHAPES, *FFHQ), least=0.95,
        small=FEWER,
    ),
    PaperClaim(
        "hae-every-manifold",
        "HAE gives near perfect disentanglement on all manifolds.",
        "Section 4.1, figures 6 to 8", "no figure", "MCC", ("networks",), mean_of("mcc", "HAE"), least=0.95,
        small=SHORTER,
    ),
    PaperClaim(
        "hae-unseen-images",
        "HAE extends to images that it has not seen.",
        "Section 4.1", "no figure", "MCC of unseen images", ("networks",), mean_of("mcc_unseen", "HAE"), least=0.95,
        small=SHORTER,
    ),
    PaperClaim(
        "hlle-above-baselines",
        "HLLE+ICA is above every baseline autoencoder and PCA on every manifold.",
        "Figure 6", "no figure; cat1 .9695 against .390 for IRMAE (figure 1)", "MCC less that of the best baseline",
        ("manifolds", "networks"), ahead("HLLE+ICA", BASELINES), least=0.0,
        small=SHORTER,
    ),
    PaperClaim(
        "hae-above-baselines",
        "HAE is above every baseline autoencoder and PCA on every manifold.",
        "Figure 6", "no figure", "MCC less that of the best baseline", ("manifolds", "networks"),
        ahead("HAE", BASELINES), least=0.0,
        small=SHORTER,
    ),
    PaperClaim(
        "baselines-like-pca",
        "The baseline autoencoders are no better than PCA.",
        "Figure 6", "no figure", "MCC less that of PCA, mean over manifolds", ("manifolds", "networks"), over_pca,
        most=0.05,
        small=SHORTER,
    ),
    PaperClaim(
        "hlle-above-lem",
        "HLLE outperforms LEM on every manifold.",
        "Section 5", "no figure: \"consistently outperformed\"", "MCC less that of LEM+ICA", ("manifolds",),
        ahead("HLLE+ICA", ("LEM+ICA",)), least=0.0,
        small=FEWER,
    ),
    PaperClaim(
        "hlle-local-isometry",
        "The codes of HLLE+ICA are closer to a local isometry than those of the baseline autoencoders.",
        "Figure 1", ".683 against .123 for IRMAE on cat1", "local isometry less that of the best baseline",
        ("manifolds", "networks"), ahead("HLLE+ICA", ("AE-2", "IRMAE-2", "VAE-2"), "isometry"), least=0.0,
        small=SHORTER,
    ),
    PaperClaim(
        "vae-collapses",
        "The VAE suffers from posterior collapse.",
        "Section 4, figure 5", "no figure", "codes of two with less than .05 nats", ("networks",),
        mean_of("dead", "VAE-2"), least=1.0,
        small=SHORTER,
        why="The paper took its beta from another paper and does not name it; here beta is 1 and pixels are Bernoulli.",
    ),
    PaperClaim(
        "lem-loses-by-rescaling",
        "LEM+ICA is very sensitive to rescalings of the factors.",
        "Section 2", "no figure", "rank MCC lost", ("rescaling",), fall("LEM+ICA"), least=0.1,
        why="At 2 : 1 the second factor and the overtone of the first have the same eigenvalue; beyond, the overtone "
        "is taken for a factor.",
    ),
    PaperClaim(
        "hlle-keeps-under-rescaling",
        "HLLE+ICA is not sensitive to rescalings of the factors.",
        "Section 2, theorem 1", "no figure", "rank MCC lost", ("rescaling",), fall("HLLE+ICA"), most=0.05,
    ),
    PaperClaim(
        "partial-sphere",
        "HLLE on points of a partial sphere finds an embedding that is almost perfectly a local isometry.",
        "Section 3", "no figure: \"almost perfectly\"", "local isometry of a cap of so many degrees", ("sphere",), caps,
        least=0.95,
    ),
    PaperClaim(
        "isometry-chooses-k",
        "The k with the highest local isometry is a good one.",
        "Section 4", "no figure", "MCC of the best k less that of the chosen", ("neighbours",), regret, most=0.02,
    ),
    PaperClaim(
        "hlle-seconds",
        "HLLE with k = 30 takes 6 seconds for 3,000 images and ICA less than one.",
        "Section 4", "7 s", "CPU seconds", ("times",), seconds, most=7.0,
        small=SMALLER,
    ),
    PaperClaim(
        "spectral-faster",
        "The spectral methods are much faster than the autoencoders.",
        "Section 4", "over an hour against 7 s: over 500 times",
        "time of 100 passes of the autoencoder over that of HLLE+ICA", ("times",), times_as_long, least=100.0,
        small=SMALLER,
    ),
    PaperClaim(
        "hae-more-iterations",
        "HAE needs more iterations than the plain autoencoder for the same quality of reconstruction.",
        "Section 4.1", "no figure", "squared error of HAE over that of AE after as many steps", ("networks",),
        error_ratio, least=1.0,
        small=SHORTER,
        why="By the paper's loss, in the unit of the teacher's codes. With codes of standard deviation 1, as HAE here "
        "has them otherwise, it needs fewer.",
    ),
    PaperClaim(
        "autoencoder-jumps",
        "The plain autoencoder jumps along a line between two codes where HAE passes smoothly.",
        "Figures 7 and 8", "no figure", "largest step over mean step of AE, less that of HAE", ("networks",),
        ahead("HAE", ("AE-2",), "jump", -1), least=0.0,
        small=SHORTER,
        why="Blurred images change evenly, and after 200 steps those of AE are the more blurred (its error is larger).",
    ),
)  # fmt: skip

BEYOND = (
    PaperClaim(
        "few-images",
        "A few hundred images are enough for two factors.",
        "Section 6 leaves it open", "no figure: \"can be fooled by sampling noise\"", "MCC on shapes-xy", ("limits",),
        limits_of("images", "images", 200, 400), least=0.95,
    ),
    PaperClaim(
        "noisy-pixels",
        "Noise of a tenth of the range of the pixels does no harm.",
        "not in the paper", "no figure", "MCC on shapes-xy", ("limits",), limits_of("noise", "noise", 0.05, 0.1),
        least=0.95,
    ),
    PaperClaim(
        "three-and-four-factors",
        "Three and four factors are found as two are.",
        "not in the paper", "no figure: all its manifolds have two", "MCC on isometric sheets", ("limits",),
        limits_of("factors", "factors", 2, 3, 4), least=0.95,
    ),
    PaperClaim(
        "millions-of-points",
        "Millions of points need no special approximation by the user.",
        "Section 6 calls it challenging", "no figure", "MCC", ("many",), many, least=0.99,
    ),
    PaperClaim(
        "hlle-above-pca-ica",
        "HLLE+ICA is above PCA followed by ICA, a stronger baseline than the paper's.",
        "not in the paper", "no figure", "MCC less that of PCA+ICA", ("manifolds",), ahead("HLLE+ICA", ("PCA+ICA",)),
        least=0.0,
    ),
    PaperClaim(
        "to-the-letter",
        "The paper's own algorithm, HLLE without LTSA and fastICA with u^4, finds every manifold, too.",
        "sections 2 and 4", "no figure", "MCC", ("manifolds",), mean_of("mcc", TO_THE_LETTER), least=0.95,
    ),
    PaperClaim(
        "above-the-best-k",
        "HLLE+ICA is no worse than scikit-learn's hessian and fastICA at the k that the labels choose.",
        "not in the paper", "no figure", "MCC less that of scikit-learn's", ("manifolds",),
        ahead("HLLE+ICA", ("scikit-learn, best k",)), least=-0.005,
    ),
    PaperClaim(
        "best-linear-map",
        "With the best linear map in place of ICA, every manifold is disentangled.",
        "not in the paper", "no figure", "MCC of the best linear map of the codes", ("manifolds",),
        mean_of("best_map", "HLLE+ICA"), least=0.95,
        why="What no linear map corrects is in the embedding: distances of these images are not those of the factors.",
    ),
    PaperClaim(
        "lem-without-overtones",
        "LEM+ICA keeps its score under rescaling if eigenvectors that are functions of earlier ones are passed over.",
        "Section 5 hopes for improvements to LEM", "no figure", "rank MCC lost", ("rescaling",), fall("LEM+ICA, ours"),
        most=0.05,
    ),
)  # fmt: skip

DRAWINGS = (
    Drawing("faces", "Faces of StyleGAN2: those of the sample that are nearest to a grid of values of two components.",
            ("manifolds",), figures.draw_faces),
    Drawing("error", "Where the error of HLLE+ICA is: in the embedding, or in the rotation that ICA finds.",
            ("manifolds",), figures.draw_error),
    Drawing("scores", "Scores of all manifolds and seeds, one box per method (figure 6).", ("manifolds",),
            figures.draw_scores),
    Drawing("maps", "Each code over the true factors (figure 5): stripes parallel to an axis are a factor of its own.",
            ("manifolds",), figures.draw_maps),
    Drawing("isometry", "Distances of nearby images against distances of their codes (figure 1, bottom).",
            ("manifolds",), figures.draw_isometry),
    Drawing("strips", "Images along the line between two codes (figure 8); the ends of a row are real.",
            ("networks",), figures.draw_strips),
    Drawing("neighbours", "Score and local isometry by the size of the neighbourhood.", ("neighbours",),
            figures.draw_neighbors),
    Drawing("rescaling", "Rescaled factors: what the textbook LEM loses and HLLE does not.", ("rescaling",),
            figures.draw_rescaling),
    Drawing("limits", "Fewer images, more noise, more factors; a dot per seed.", ("limits",), figures.draw_limits),
)  # fmt: skip

PAPER = Paper(
    name="horan",
    title="When is unsupervised disentanglement possible?",
    reference="Horan, Richardson, Weiss (2021), NeurIPS",
    about="Squares on black as in the paper. Of its eight StyleGAN2 manifolds the first, faces by gender and pose, is "
    "that of components 0 and 1 of the StyleGAN2 that `unbraid datasets get ffhq` fetches (distilled from NVIDIA's); "
    "further pairs and a triple of its components, and faces of a small DCGAN, stand beside it (the other seven run at "
    "the paper's scale where weights are given as stylegan2-SUBJECT.pt). The small scale has 800 faces of each and "
    "shorter training, said with each claim.",
    experiments=EXPERIMENTS,
    claims=CLAIMS,
    beyond=BEYOND,
    drawings=DRAWINGS,
    tables=(
        Table(
            "Scores",
            (
                "manifold",
                "method",
                "MCC, mean of the samples",
                "95 % interval",
                "range",
                "rank MCC",
                "best linear map",
                "best quadratic map",
                "unseen images",
            ),
            ("manifolds",),
            scores,
        ),
    ),
)
