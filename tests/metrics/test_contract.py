"""What holds for every row of the table of metrics: bounds, invariances and plain errors, over every kind of codes.

A new metric is held to it by its line in the table. The exceptions below are properties of the metrics that they name.
"""

import dataclasses
import re
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.metrics import METRICS, Metric

m = ub.metrics
RNG = np.random.default_rng(0)
SIZES = (3, 4, 5)
N = 700
SMALL = dataclasses.replace(
    ub.evaluation.PROTOCOLS["fast"], name="small", n_batches=300, n_batches_test=200, downstream_sizes=(60,)
)
VARIANTS = (
    Metric("mcc_out_of_sample", lambda s, p, seed: m.mcc(s.factors, s.codes, test_size=0.5)),
    Metric("modularity_ignore", lambda s, p, seed: m.modularity(s.factors, s.codes, dead="ignore")),
)


@dataclasses.dataclass
class Given:
    """A sample that hands over what the test gave, so that the functions themselves check and split it."""

    factors: Any
    codes: Any
    n_train: int = 200
    kinds: ClassVar[dict] = {}  # no angles

    @property
    def parts(self):
        return self.factors, self.codes


SEEN: dict[tuple, tuple[float, ...]] = {}


def row_of(metric, index):
    """One row of a metric. Of the same arrays, a metric is computed once for its rows and for all tests."""

    def compute(factors, codes):
        arrays = [a for a in (factors, codes) if isinstance(a, np.ndarray) and a.dtype != object]
        key = (metric.name, *((a.dtype.str, a.shape, a.tobytes()) for a in arrays))
        if len(arrays) < 2 or key not in SEEN:
            SEEN[key] = metric.compute(Given(factors, codes), SMALL, 0)
        return SEEN[key][index]

    return compute


LINES = {
    row: (metric, index)
    for metric in {x.name: x for x in (*METRICS, *VARIANTS)}.values()
    for index, row in enumerate(metric.rows)
    if metric.score is not None and "observations" not in metric.needs and not row.startswith("efficiency")
}
EVERY = {row: row_of(*line) for row, line in LINES.items()}
SUPERVISED = [row for row, (metric, _) in LINES.items() if metric.supervised]
# Whose value depends on the scale of single codes: a penalty, a pruning threshold or weights in units of the codes.
SCALE_MATTERS = {
    "sap",
    "factor_vae",
    "infom",
    "infoc",
    "irs",
    "wasserstein_correlation",
    "wasserstein_normalised",
}
# Whose value on classes depends on a common scale of all codes: a penalty, a pruning threshold.
COMMON_SCALE_MATTERS = {"sap", "factor_vae"}

every = pytest.mark.parametrize("name", EVERY)
supervised = pytest.mark.parametrize("name", SUPERVISED)


def discrete(n=N):
    return np.stack([np.random.default_rng(k).integers(s, size=n) for k, s in enumerate(SIZES)], axis=1)


FACTORS = {"discrete": discrete(), "continuous": np.random.default_rng(3).uniform(size=(N, 3))}
kinds = pytest.mark.parametrize("kind", FACTORS)


def noisy(factors, noise=0.3, seed=1):
    """Codes that tell the factors with some noise and some mixing."""
    rng = np.random.default_rng(seed)
    z = (factors - factors.mean(axis=0)) / factors.std(axis=0)
    return z @ (np.eye(z.shape[1]) + 0.2 * rng.normal(size=(z.shape[1],) * 2)) + noise * rng.normal(size=z.shape)


def within_bounds(name, value):
    low, high = LINES[name][0].bounds
    return low - 1e-12 <= value <= high + 1e-12


def test_the_table_names_what_is_public_and_nothing_twice():
    names = [row for metric in METRICS for row in {metric.name, *metric.rows}]
    assert len(names) == len(set(names))
    public = [place for metric in METRICS for place in metric.public]
    assert len(public) == len(set(public))
    assert set(m.__all__) == {"METRICS", "Metric", *(place.partition(".")[2] for place in public)}
    for place in public:
        module, _, name = place.partition(".")
        assert module not in m.__all__, "once imported, the module would hide the function"
        assert getattr(m, name).__module__ == f"unbraid.metrics.{module}"


def test_the_page_says_what_each_metric_asks_and_how_it_fails():
    page = Path(__file__).parents[2] / "docs" / "metrics.rst"
    rows = re.findall(r"^   \* - ``(\w+)``\n     - .+\n     - .+$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [metric.public[0].partition(".")[2] for metric in METRICS if metric.public]


@kinds
@every
def test_bounds(name, kind):
    factors = FACTORS[kind]
    rng = np.random.default_rng(5)
    z = noisy(factors)
    for codes in (z, rng.normal(size=z.shape), np.hstack([z, rng.normal(size=(N, 4))])):
        assert within_bounds(name, EVERY[name](factors, codes))


BEST = dict.fromkeys(SUPERVISED, 0.95) | {"irs": 0.6, "sap": 0.2, "med": 0.9, "infoe": 0.7}


@supervised
def test_perfect_codes_score_high(name):
    factors = FACTORS["discrete"]
    codes = 2.0 * factors / np.array(SIZES)
    assert EVERY[name](factors, codes) >= BEST[name]


@supervised
def test_perfect_codes_of_continuous_factors_score_high(name):
    factors = FACTORS["continuous"]
    least = {"mig": 0.7, "mig_sup": 0.7, "jemmig": 0.7, "dcimig": 0.7, "med": 0.4, "infom": 0.75, "infoc": 0.75}
    least |= {"infoe": 0.5, "modularity": 0.95, "modularity_ignore": 0.95, "irs": 0.9, "explicitness": 0.9}
    assert EVERY[name](factors, factors) >= least.get(name, 0.95)


@kinds
@every
def test_constant_codes_say_nothing(name, kind):
    factors = FACTORS[kind]
    value = EVERY[name](factors, np.full((N, 4), 0.1))
    told = ("explicitness", "beta_vae", "downstream_logistic", "downstream_trees", "dci_informativeness")
    blind = dict.fromkeys(told, 0.5)  # what guessing the most frequent class gives, and more
    blind["jemmig"] = 0.75  # log B / (H(v) + log B) by its formula
    assert 0 <= value <= blind.get(name, 0)


@kinds
@every
def test_order_and_sign_of_codes_do_not_matter(name, kind):
    factors = FACTORS[kind]
    z = noisy(factors)
    moved = z[:, [2, 0, 1]] * [1, -1, -1]
    assert EVERY[name](factors, moved) == pytest.approx(EVERY[name](factors, z), abs=1e-9)


@every
def test_order_of_factors_does_not_matter(name):
    factors = FACTORS["discrete"]
    z = noisy(factors)
    error = 0.1 if name in ("beta_vae", "factor_vae") else 1e-6  # which factor a batch fixes is drawn by its number
    assert EVERY[name](factors[:, [2, 0, 1]], z) == pytest.approx(EVERY[name](factors, z), abs=error)


@pytest.mark.parametrize(
    ("name", "kind"), [(n, k) for n in EVERY for k in FACTORS if k == "continuous" or n not in COMMON_SCALE_MATTERS]
)
def test_a_common_scale_of_codes_does_not_matter(name, kind):
    factors = FACTORS[kind]
    z = noisy(factors)
    if name == "wasserstein_correlation":
        assert EVERY[name](factors, 3 * z) == pytest.approx(9 * EVERY[name](factors, z), rel=1e-9)
    else:
        assert EVERY[name](factors, 3.7 * z) == pytest.approx(EVERY[name](factors, z), abs=1e-9)


@kinds
@pytest.mark.parametrize("name", [n for n in EVERY if n not in SCALE_MATTERS])
def test_scales_and_shifts_of_single_codes_do_not_matter(name, kind):
    factors = FACTORS[kind]
    z = noisy(factors)
    assert EVERY[name](factors, z * [3.7, 0.2, 40] + [5, 0, -3]) == pytest.approx(EVERY[name](factors, z), abs=1e-6)


@supervised
def test_rows_are_what_pairs_factors_and_codes(name):
    """Shuffling the rows of one side destroys the score, shuffling both alike keeps it up to the draw of the split."""
    factors = FACTORS["discrete"]
    codes = 2.0 * factors / np.array(SIZES)
    order = np.random.default_rng(1).permutation(N)
    chance = {
        "modularity": 0.95,
        "modularity_ignore": 0.95,
        "explicitness": 0.6,
        "irs": 0.7,
        "infom": 0.9,
        "infoc": 0.9,
    }
    assert EVERY[name](factors, codes[order]) <= chance.get(name, 0.7)
    assert EVERY[name](factors[order], codes[order]) >= BEST[name]


@supervised
def test_duplicated_codes(name):
    """A copy of each code costs a gap between codes, and nothing else."""
    factors = FACTORS["discrete"]
    codes = 2.0 * factors / np.array(SIZES)
    value = EVERY[name](factors, np.hstack([codes, codes]))
    if name in ("mig", "sap"):
        assert value == pytest.approx(0, abs=1e-12)
    elif name in ("jemmig", "dci_completeness", "infoc"):
        assert value < EVERY[name](factors, codes) + 1e-12
    else:
        assert value >= BEST[name] - 1e-9


@kinds
@supervised
def test_a_constant_factor_is_left_out(name, kind):
    factors = FACTORS[kind]
    z = noisy(factors)
    with_constant = np.column_stack([factors, np.full(N, 7, dtype=factors.dtype)])
    assert EVERY[name](with_constant, z) == pytest.approx(EVERY[name](factors, z), abs=1e-9)


@supervised
def test_only_constant_factors_is_an_error(name):
    with pytest.raises(ValueError, match=facts("factor", "constant")):
        EVERY[name](np.ones((N, 2), dtype=int), RNG.normal(size=(N, 2)))


@every
def test_one_sample_is_an_error(name):
    with pytest.raises(ValueError, match=facts("codes", "1 sample")):
        EVERY[name](np.array([[1, 2]]), np.array([[0.5, 0.1]]))


@every
def test_nan_is_an_error(name):
    factors, z = FACTORS["continuous"], noisy(FACTORS["continuous"])
    z[3, 1] = np.nan
    with pytest.raises(ValueError, match=facts("codes", "NaN", 1, 700, "row 3")):
        EVERY[name](factors, z)
    if name in SUPERVISED:
        holes = factors.copy()
        holes[5, 0] = np.inf
        with pytest.raises(ValueError, match=facts("factors", "NaN", 1, 700, "row 5")):
            EVERY[name](holes, noisy(factors))


@kinds
@every
@pytest.mark.filterwarnings("ignore:UB107")
def test_more_and_fewer_codes_than_factors(name, kind):
    factors = FACTORS[kind]
    z = noisy(factors)
    for codes in (z[:, :1], z[:, :2], np.hstack([z, z, noisy(factors, seed=9)])):
        assert within_bounds(name, EVERY[name](factors, codes))


@every
def test_vectors_lists_and_float32_are_taken(name):
    factors = FACTORS["discrete"][:, 1]
    z = noisy(factors[:, None])
    expected = EVERY[name](factors[:, None], z)
    assert EVERY[name](factors, z[:, 0]) == expected
    assert EVERY[name](factors.tolist(), z.tolist()) == expected
    assert EVERY[name](factors.astype(np.uint8), z.astype(np.float32)) == pytest.approx(expected, abs=0.02)


@every
def test_a_mixed_table_keeps_the_kind_of_each_column(name):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"shape": FACTORS["discrete"][:, 0], "x": FACTORS["continuous"][:, 0]})
    value = EVERY[name](table, noisy(table.to_numpy()))
    assert within_bounds(name, value)
    assert value == EVERY[name](table.astype(object).to_numpy(), noisy(table.to_numpy()))


@supervised
def test_inputs_are_left_alone(name):
    factors, z = FACTORS["discrete"].copy(), noisy(FACTORS["discrete"])
    before = factors.copy(), z.copy()
    LINES[name][0].compute(Given(factors, z), SMALL, 0)
    assert (factors == before[0]).all()
    assert (z == before[1]).all()


@every
@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_codes_whose_squares_do_not_fit_are_refused(name, scale):
    """They used to score at chance."""
    factors = FACTORS["continuous"]
    with pytest.raises(ValueError, match=facts("column 0", "codes", "float64")):
        EVERY[name](factors, scale * noisy(factors))
