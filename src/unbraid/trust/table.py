"""The one table of figures: what each says, where it is in doubt, where that was calibrated, and what to do then.

The division of labour: ``diagnosis_`` asks of the data, before a fit, whether the assumptions of a method hold at all;
``diagnostics_`` are the figures of one fit; ``summary()`` is what a page shows, made from both. All three, the warnings
(:mod:`unbraid.trust.codes`), ``unbraid explain`` and the docs read their names, thresholds and remedies here.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Figure:
    """A line of the table.

    Attributes
    ----------
    name : str
        As people read it.
    meaning : str
        One sentence.
    formula : str
        In the markup of the docs.
    threshold : float or None
        Where doubt begins; None where it depends on the data, or the figure only informs.
    fails : {"above", "below", ""}
        On which side of the threshold.
    cases : mapping
        Thresholds of special cases: a kind of factor or method, a number of factors.
    calibrated : str
        On what the threshold was chosen.
    code : str
        The warning that is given.
    remedy : str
        What to do, or to collect.
    assumption : str
        The assumption of which the diagnosis says by this figure whether it holds; empty where it does not look at it.
    decides : bool
        Whether the verdict of the diagnosis depends on it.
    families : tuple of str
        The rooms of the methods that it matters to, or the one method.
    """

    name: str
    meaning: str
    formula: str = ""
    threshold: float | None = None
    fails: Literal["above", "below", ""] = ""
    cases: Mapping[Hashable, float] = field(default_factory=dict)
    calibrated: str = ""
    code: str = ""
    remedy: str = ""
    assumption: str = ""
    decides: bool = True
    families: tuple[str, ...] = ("spectral",)

    def limit(self, case: Hashable = None) -> float:
        """The threshold, of a special case where it has one."""
        limit = self.cases.get(case, self.threshold)
        if limit is None:
            raise ValueError(f"{self.name} has no threshold.")
        return limit

    def holds(self, value: float, case: Hashable = None) -> bool:
        """Whether a value is on the right side of the threshold; the threshold itself is."""
        return bool(value <= self.limit(case) if self.fails == "above" else value >= self.limit(case))

    @property
    def doubt(self) -> str:
        """Where doubt begins, in words; empty where there is no threshold.

        >>> FIGURES["local_isometry"].doubt
        'below 0.5 (laplacian: 0.2)'
        """
        if self.threshold is None:
            return ""
        cases = ", ".join(f"{case}: {limit:g}" for case, limit in self.cases.items())
        return f"{self.fails} {self.threshold:g}" + (f" ({cases})" if cases else "")


WORLDS = "the worlds of benchmarks/worlds.py, seeds 0 to 4"
UNRECORDED = "on what it was chosen is not recorded"
PRODUCTS = "benchmarks/experiment_product.py, seeds below 200"
MORE_ROWS, MORE_POINTS = "Give more rows.", "Give more points."
LOOK = "Look at it before you use it."
EVERYTHING = ("spectral", "geometry")
CODES_FAMILIES = ("spectral", "autoencoders")
FREE_OF_EACH_OTHER = (
    "Factors must be free of each other: collect the missing combinations of their values, or cut out a part of the "
    "data in which all occur. If they do depend on each other, bring other evidence by rotation=, such as a few labels."
)

FIGURES = {
    # What the data must be like before a fit.
    "structure": Figure(
        "structure",
        "How far the columns are from independent ones, in standard deviations of copies with permuted columns.",
        r":math:`\max_T |T(X) - \overline{T(X_\pi)}| / s(T(X_\pi))` for the top eigenvalue and the crowding of points",
        4.0, "below", calibrated="760 data sets of noise: 758 are said to have no structure", code="UB209",
        remedy="Check that the right data were given; noise has no factors.", assumption="structure",
        families=EVERYTHING,
    ),
    "column_share": Figure(
        "largest column",
        "Share of the variance in the column of a table that varies most.",
        r":math:`\max_j v_j / \sum_j v_j`",
        0.95, "above", calibrated=UNRECORDED,
        remedy="If the columns have different units, bring them to one scale first: (X - X.mean(axis=0)) / "
        "X.std(axis=0).",
        assumption="like units", families=EVERYTHING,
    ),
    "apart": Figure(
        "points apart",
        "Share of the points outside of the largest piece of the graph of 10 neighbours.",
        threshold=0.02, fails="above", calibrated=WORLDS, code="UB207",
        remedy="Raise n_neighbors, fit each piece by itself, or collect what lies between the pieces.",
        assumption="connected", families=EVERYTHING,
    ),
    "dimension_gap": Figure(
        "gap of the local spectra",
        "How far the local spectra fall after the last factor, over the fall of a flat sample.",
        r":math:`\lambda_d / \max(\lambda_{d+1}, s^2) / \rho_d(k)`",
        2.0, "below", {"small neighbourhoods": 1.75}, "benchmarks/experiment_dimension.py; 230 fresh cases, none wrong",
        code="UB210",
        remedy="Give n_factors if you know it; with more than 6 factors, fix some of them while collecting.",
        assumption="intrinsic dimension",
    ),
    "off_tangent": Figure(
        "noise off the tangent",
        "Median share of the variance of a small neighbourhood that lies off its tangent: noise, and curvature.",
        r":math:`1 - \sum_{i \le d} \lambda_i / \sum_i \lambda_i`",
        0.35, "above", calibrated=WORLDS,
        remedy="Average repeated measurements, or take more points: neighbourhoods must be wider than the noise.",
        assumption="low noise", decides=False,
    ),
    "flat_residual": Figure(
        "curvature",
        "Share of the variance that as many principal components as factors leave out; a linear method needs none.",
        r":math:`1 - \sum_{i \le d} v_i / \sum_i v_i`",
        0.002, "above", calibrated=WORLDS, assumption="linear", decides=False, families=("pca-ica",),
    ),
    "edge": Figure(
        "edge",
        "Share of the points that lie at an edge, over that of a uniform box; what closes in itself has none.",
        r":math:`|\overline{o}| / \overline{|o|}` of the offsets to neighbours, above .70, .45, .40 for d = 1, 2, 3",
        0.72, "below", {1: 0.5}, "144 product fits and closed manifolds of fresh seeds: no false alarm in 120",
        remedy="A factor that wraps around (an angle, a position on a ring) needs a method for loops, such as "
        "product-manifold; or keep only part of the loop.",
        assumption="no closed loops",
    ),
    "end_distance": Figure(
        "ends of a curve",
        "Distance between the ends of a curve, in its longest steps; near 1 they meet, and it is a circle.",
        "ends of the longest path of the minimum spanning tree",
        1.5, "below", calibrated="circles 14 of 15 found, arcs 0 of 60",
    ),
    # What a fit shows.
    "participation": Figure(
        "participation",
        "Share of the points on which each eigenvector lives; near 0 it has collapsed onto a few.",
        r":math:`1 / (n \sum_i v_i^4)`",
        0.05, "below", calibrated=UNRECORDED, code="UB201", remedy="Raise tangent_weight, or try another n_neighbors.",
    ),
    "eigengap": Figure(
        "eigengap",
        "First eigenvalue left out over the last one kept; well above 1, the spectrum says where the factors end.",
        r":math:`\lambda_{d+1} / \lambda_d`",
        2.0, "below", calibrated=UNRECORDED, code="UB203", remedy="Check n_factors, or take more points.",
    ),
    "local_isometry": Figure(
        "local isometry",
        "Correlation of distances between neighbours in the data and in the codes; the theory asks for 1.",
        r":math:`\mathrm{corr}(|x_i - x_j|, |S (z_i - z_j)|)` with the best diagonal :math:`S`",
        0.5, "below", {"laplacian": 0.2}, WORLDS + "; cosines never keep distances well", "UB202",
        "Take more points, or check the number of factors; data that jump (moving sharp edges) can be blurred first.",
        assumption="local isometry",
    ),
    "extension_error": Figure(
        "extension error",
        "Error of placing a point from its neighbours alone, in standard deviations of a code.",
        threshold=0.1, fails="above", calibrated=UNRECORDED, code="UB206",
        remedy="More points, or more landmarks, would help: the gaps between them are too wide.",
        assumption="sampling density", decides=False,
    ),
    "rotation_doubt": Figure(
        "rotation doubt",
        "Degrees between rotations of the codes that rest on different assumptions.",
        r":math:`(A + H) / 2`, :math:`A` the turn without density weights or over bootstraps, :math:`H` that of halves",
        15.0, "above", calibrated="benchmarks/experiment_rotation.py", code="UB204",
        remedy="Take more points, or bring other evidence by rotation=, such as a few labels, pairs, or the order in "
        "time.",
        assumption="rotation",
    ),
    "rotation_uncertainty": Figure(
        "rotation uncertainty",
        "Degrees by which each code may be turned: by chance, by the density of the points, or by dependence.",
    ),
    "ica_stability": Figure(
        "ICA stability", "Agreement of ICA with and without density weights; 1 where the codes are the same.",
    ),
    "dependence": Figure(
        "dependence",
        "Mutual information (nats) of the two codes that share most, less what chance shows.",
        r":math:`\max_{ij} I(z_i; z_j) - (b - 1)^2 / 2n` in :math:`b^2` bins of equal counts",
        0.1, "above",
        calibrated="180 fits of benchmarks/guess_worlds.py (seeds from 300000 on): above it are .45 of those with an "
        "MCC below .9 and .07 of the others; no verdict of the diagnosis worlds rests on it alone",
        code="UB211", remedy=FREE_OF_EACH_OTHER, assumption="independent codes", families=CODES_FAMILIES,
    ),
    "raggedness": Figure(
        "raggedness",
        "How far combinations of codes that should occur lie from the data, over chance.",
        ".97 quantile of the distance from permuted ranks to the ranks, over that to another permutation",
        1.4, "above", calibrated="144 product fits of fresh seeds: 3.5 % false alarms together with emptiness",
        remedy=FREE_OF_EACH_OTHER, assumption="product support", families=CODES_FAMILIES,
    ),
    "emptiness": Figure(
        "emptiness",
        "Share of the box of the codes that is empty though permuted codes would fill it.",
        r"share of the box beyond the .95 quantile of permuted codes, less .05; times "
        r":math:`\max(1, \sqrt{1000 / n})` the threshold",
        0.045, "above", calibrated="144 product fits of fresh seeds: 3.5 % false alarms together with raggedness",
        remedy=FREE_OF_EACH_OTHER, assumption="filled box", families=CODES_FAMILIES,
    ),
    "separability": Figure(
        "separability",
        "What tells the least separable pair of codes from its rotations, over what chance makes of Gaussians.",
        r":math:`(\max_\theta J - \min_\theta J) / 10`; clear from 1.3 on",
        1.0, "below", {"clear": 1.3}, "95 % of Gaussian pairs stay below 1, with 100 and with 1000 points",
        remedy="Gaussian factors cannot be told from their rotations. Bring other evidence: labels or batches (gin), "
        "pairs, or the order in time; more points if it cannot be told.",
        assumption="non-Gaussian",
    ),
    "kurtosis": Figure(
        "excess kurtosis",
        "Of each code; two that are within two standard errors of 0, or .1, cannot be separated by ICA.",
        r":math:`E u^4 - 3`, against :math:`\max(.1, 2 \sqrt{24 / n})`",
        0.1, "below", calibrated=UNRECORDED, code="UB205",
        remedy="Bring other evidence by rotation=, such as time, pairs or a few labels.",
    ),
    "expected_mcc": Figure(
        "expected MCC",
        "What the MCC with the true factors was in similar simulated data sets.",
        calibrated="959 simulated data sets of benchmarks/calibrate_expected_mcc.py; 300 fresh ones",
    ),
    "pca_residual": Figure(
        "PCA residual", "Share of the variance that the PCA before the neighbour search leaves out.",
    ),
    "reliability": Figure(
        "reliability", "Mean correlation of each code between refits; 1 where it is always found again.",
    ),
    "r_hat": Figure(
        "R-hat",
        "Spread of each code over all refits, over its spread within what they share; 1 is perfect.",
        r":math:`1 / \sqrt{\mathrm{reliability}}`",
        1.02, "above", calibrated="arithmetic: a turn by 16 degrees; codes turned at random have 1.05", code="UB212",
        remedy="Take more points, or look at diagnostics_.reliability.refits for what moves it.",
    ),
    "direction": Figure("direction", "Degrees: the largest turn of each code over all refits."),
    # What labels and pairs must be like.
    "conditions": Figure(
        "conditions",
        "Number of conditions; the proof of GIN asks for twice as many as factors, and one more.",
        ":math:`n k + 1` with :math:`k = 2`: a mean and a variance",
        fails="below", calibrated="Sorrenson et al. (2020), theorem 1", code="UB104",
        remedy="Collect data under more conditions (batches, times, treatments); else compare runs of several random "
        "states before you rely on it.",
        assumption="enough conditions", decides=False, families=("flows",),
    ),
    "class_size": Figure(
        "class size",
        "Members of the smallest class; of 20, a standard deviation is known to 16 %.",
        r":math:`1 / \sqrt{2 m}`",
        20.0, "below", calibrated="arithmetic", code="UB103", remedy="Merge or drop small classes, or collect more.",
        assumption="class sizes", decides=False, families=("flows",),
    ),
    "class_overlap": Figure(
        "overlap of classes",
        "Share of the points that have a point of another class among their 10 neighbours.",
        threshold=0.05, fails="below", calibrated=UNRECORDED,
        remedy="Classes that lie apart leave a flow free in each; give a condition that changes gradually.",
        assumption="classes overlap", decides=False, families=("flows",),
    ),
    "class_contact": Figure(
        "contact of classes",
        "Share of a class's 5 nearest neighbours in another; classes that touch nowhere fall into groups.",
        threshold=0.01, fails="below", calibrated=UNRECORDED, code="UB102",
        remedy="More points help if the gap is small; else trust factors within a group only.", families=("flows",),
    ),
    "class_information": Figure(
        "information of labels",
        "How much more often than by chance neighbours share their class.",
        threshold=0.05, fails="below", calibrated=UNRECORDED,
        remedy="Labels must change the distribution of the factors; check that they belong to these rows.",
        assumption="informative labels", decides=False, families=("flows",),
    ),
    "pair_sparsity": Figure(
        "sparsity of pairs",
        "How far pairs differ along one code: 0 is as any two rows, 1 is along one code alone.",
        threshold=0.5, fails="below", calibrated=UNRECORDED,
        remedy="Pairs should share all factors but one; check that they are pairs of row numbers.",
        assumption="sparse pairs", decides=False,
    ),
    # Flows.
    "spectrum_drop": Figure(
        "drop of the spectrum",
        "By what factor the spread over the noise falls after the last latent that is counted as informative.",
        threshold=2.0, fails="below", calibrated="24 fits of GIN, seeds 100 to 102, 200 and 201; 13 fresh ones",
        code="UB221",
        remedy="Look at above_noise_; lower noise (here {noise:.3g}) if weak factors may be lost in it, train longer, "
        "or give n_factors.",
        families=("flows",),
    ),
    "found_again": Figure(
        "found again",
        "Mean correlation of a code with its like in the other starts.",
        r":math:`\overline{\max_j |\mathrm{corr}(a_i, b_j)|}`",
        0.95, "below", calibrated=UNRECORDED, code="UB222",
        remedy="Augment what the code should follow, or give more points; found_again_ has the figure of every code.",
        families=("flows",),
    ),
    # Autoencoders.
    "code_information": Figure(
        "codes in use",
        "KL of each code from its prior, in nats: how much it carries about an observation; below, it is switched off.",
        threshold=0.01, fails="below", calibrated=UNRECORDED, families=("autoencoders",),
    ),
    "rank": Figure(
        "rank",
        "Directions of the codes, by their share of the largest variance.",
        threshold=0.01, fails="below", calibrated=UNRECORDED, families=("autoencoders",),
    ),
    # GEOMANCER.
    "submanifold_gap": Figure(
        "gap",
        "Ratio of the eigenvalues across the gap of the connection Laplacian.",
        r":math:`\lambda_{m} / \lambda_{m-1}`",
        50.0, "below", calibrated=UNRECORDED, code="UB247", remedy=MORE_POINTS,
        families=("geometry",),
    ),
    "tangent_error": Figure(
        "tangent error",
        "Angle in radians by which tangent spaces turn when twice as many neighbours are used.",
        threshold=0.5, fails="above", calibrated=UNRECORDED, code="UB248",
        remedy=MORE_POINTS, families=("geometry",),
    ),
    # Factors of a product of intervals, circles and spheres.
    "factor_shape": Figure(
        "shape", "Gradients are those of its kind.",
        threshold=0.85, fails="below", calibrated=PRODUCTS, code="UB235", remedy=LOOK, families=("product",),
    ),
    "factor_harmonic": Figure(
        "harmonic", "Its second harmonic is where it should be.",
        threshold=0.55, fails="below", calibrated=PRODUCTS, code="UB235", remedy=LOOK, families=("product",),
    ),
    "factor_reach": Figure(
        "covered", "Samples reach both ends of an interval.",
        threshold=0.85, fails="below", calibrated=PRODUCTS, code="UB235", remedy=LOOK, families=("product",),
    ),
    "factor_hole": Figure(
        "covered", "Samples go all the way round: radians of a circle or sphere without a sample.",
        threshold=1.0, fails="above", calibrated=PRODUCTS, code="UB235", remedy=LOOK, families=("product",),
    ),
    "factor_apart": Figure(
        "apart", "Its functions change along no other factor.",
        threshold=0.08, fails="above", calibrated=PRODUCTS, code="UB235", remedy=LOOK, families=("product",),
    ),
    "factor_sum": Figure(
        "sum", "Eigenvalues of products are sums; a disk has 1.2 and more, a triangle 1.7.",
        threshold=1.13, fails="above", calibrated=PRODUCTS, code="UB235", remedy=LOOK, families=("product",),
    ),
    "factor_constant": Figure(
        "constant", "Its length does not depend on the others.",
        threshold=0.2, fails="above", calibrated=PRODUCTS, code="UB235", remedy=LOOK, families=("product",),
    ),
    "factor_full": Figure(
        "full", "Every value of it occurs with every value of the others.",
        threshold=0.025, fails="above", calibrated=PRODUCTS, code="UB235", remedy=LOOK, families=("product",),
    ),
    "factor_complete": Figure(
        "complete", "The dimensions of all factors add up to that of the data.", code="UB234", remedy=MORE_ROWS,
        families=("product",),
    ),
    "factor_faithful": Figure(
        "faithful", "Samples of the same factors are alike; an angle taken twice has .5, a figure of eight 20.",
        threshold=0.3, fails="above", calibrated=PRODUCTS + "; right ones have .15 at most but for few", code="UB236",
        remedy=MORE_ROWS, families=("product",),
    ),
    "factor_connected": Figure(
        "connected", "The neighbour graph of the samples is one piece.",
        threshold=1.0, fails="above", code="UB232", remedy="Fit each part alone, or give more rows.",
        families=("product",),
    ),
    "factor_round": Figure(
        "round", "Its functions lie on one radius.",
        threshold=0.3, fails="above", cases={"sphere": 0.2}, calibrated=PRODUCTS, code="UB235", remedy=LOOK,
        families=("product",),
    ),
    "factor_even": Figure(
        "even", "Its functions are equally slow: their eigenvalues, largest to smallest.",
        threshold=1.6, fails="above", calibrated=PRODUCTS, code="UB235", remedy=LOOK, families=("product",),
    ),
}  # fmt: skip

ASSUMPTIONS = {figure.assumption: key for key, figure in FIGURES.items() if figure.assumption}


def key_of(name: str) -> str:
    """The key of a figure, by itself, by the name of the figure or by that of the assumption it tests.

    Parameters
    ----------
    name : str

    Returns
    -------
    str
        A key of ``FIGURES``.

    Examples
    --------
    >>> key_of("eigengap"), key_of("Local isometry"), key_of("filled box"), key_of("non-gaussian")
    ('eigengap', 'local_isometry', 'emptiness', 'separability')
    """
    wanted = _bare(name)
    for key, figure in FIGURES.items():
        if wanted in {_bare(key), _bare(figure.assumption)}:
            return key
    for key, figure in FIGURES.items():
        if wanted == _bare(figure.name):
            return key
    raise ValueError(f"there is no figure {name!r}. Available: {', '.join(FIGURES)}.")


def _bare(name: str) -> str:
    return name.lower().replace("-", " ").replace("_", " ")
