"""The papers on GIN: verdicts on rows made by hand, and the measures of digits on pictures whose answer is known."""

import numpy as np
import pytest

from tests.facts import facts
from tests.papers.judging import verdicts
from unbraid_papers import digit_styles as styles
from unbraid_papers import gin, self_supervised_gin
from unbraid_papers import gin_digits as digits
from unbraid_papers.bench import Bench
from unbraid_papers.gin import cells, share_part
from unbraid_papers.gin_figures import latents_sheet, matched, true_spectrum
from unbraid_papers.gin_supervised import STEPS, difference
from unbraid_papers.self_supervised_gin import Trials, follows, run_digits, shifted, turned
from unbraid_papers.self_supervised_gin import cells as trial_cells


def artificial(score, count=2):
    """Rows of all cells, scored by a function of the cell."""
    return [c | {"mcc": score(c), "worst": score(c), "n_informative": count} for c in cells("small")]


def test_gin_as_in_the_paper():
    def score(cell):
        few = cell["spread"] == "variance" and cell["points"] == 10_000
        return (0.8 if few or cell["rate"] < 1e-3 else 0.99) + 0.001 * cell["seed"]

    found = verdicts(gin.PAPER, artificial=artificial(score))
    for name in (
        "two-of-ten-count",
        "two-reconstructed",
        "few-points-split",
        "three-clusters-reconstructed",
        "low-rate-splits",
    ):
        assert found[name] == "reproduced"
    assert found["digits-22-variables"] == "cannot be tried here"


def test_gin_when_nothing_holds():
    found = verdicts(gin.PAPER, artificial=artificial(lambda cell: 0.7 + 0.001 * cell["seed"], count=4))
    for name in ("two-of-ten-count", "two-reconstructed", "three-clusters-reconstructed", "three-clusters-spectrum"):
        assert found[name] == "not reproduced"


def test_self_supervised_verdicts():
    def trials(cell, low, high):
        return cell | {
            "mcc": list(np.linspace(low, high, 5)),
            "stds": [[1.0, 1.0, *[0.1 * cell["dimensions"]] * 8]] * 5,
        }

    def rows(noisy):
        ranges = {(2, 0.0): (0.98, 0.99), (1, 0.0): (0.6, 0.99), (1, 0.01): noisy}
        return [trials(c, *ranges[c["dimensions"], c["noise"]]) for c in trial_cells("small")]

    paper = self_supervised_gin.PAPER
    found = verdicts(paper, synthetic=rows((0.96, 0.99)), defaults=[{"mcc": 0.96}, {"mcc": 0.99}])
    for name in (
        "two-augmented-stable",
        "one-augmented-can-identify",
        "one-augmented-unstable",
        "noise-stabilises",
        "noise-reconstructs",
        "noise-fewer-failures",
    ):
        assert found[name] == "reproduced"
    assert found["one-augmented-spreads"] == "not reproduced"  # made smaller above
    assert found["defaults-find-both"] == "reproduced"
    found = verdicts(paper, synthetic=rows((0.55, 0.97)), defaults=[{"mcc": 0.9}, {"mcc": 0.99}])
    for name in ("noise-stabilises", "defaults-find-both", "noise-fewer-failures"):
        assert found[name] == "not reproduced"


def test_share_part_is_wilsons_interval():
    from scipy.stats import binomtest

    hits = [True] * 7 + [False] * 3
    low, high = binomtest(7, 10).proportion_ci(method="wilson")
    assert share_part(hits) == pytest.approx((0.7, low, high), abs=1e-4)


def test_slant_and_ink_of_bars():
    upright, leaning = np.zeros((2, 28, 28))
    upright[4:24, 13:15] = 1
    for row in range(4, 24):
        leaning[row, (24 - row) // 2 + 8 : (24 - row) // 2 + 10] = 1  # half a pixel to the left per pixel downwards
    assert styles.slant(np.stack((upright, leaning))) == pytest.approx([0, 0.5], abs=0.02)
    assert styles.ink(np.stack((upright, leaning))) == pytest.approx([40 / 784] * 2)


def bar(lean=0.0, half=1.5, reach=10, wide=0.0):
    """A bar about the middle: its lean, half its thickness, how far it goes up and down, and how much wider on top."""
    y, x = np.mgrid[-13.5:14, -13.5:14]
    edge = half + wide * (y < 0)
    return np.clip(edge + 0.5 - np.abs(x + lean * y), 0, 1) * (np.abs(y) < reach)


@pytest.mark.parametrize(
    ("style", "less", "more"),
    [
        ("slant", bar(), bar(lean=0.4)),
        ("line thickness", bar(), bar(half=3)),
        ("height", bar(reach=7), bar()),
        ("width of the top half", bar(), bar(wide=4)),
        ("width of the bottom half", bar(), bar(wide=4)[::-1]),
    ],
)
def test_a_latent_that_changes_a_style_is_described_by_it(style, less, more):
    """Images on the way from one picture to the other, for every digit; real digits differ in all styles."""
    way = np.linspace(0, 1, 5)[:, None, None]
    moved = np.broadcast_to(less + way * (more - less), (1, 10, 5, 28, 28))
    rng = np.random.default_rng(0)
    drawn = rng.uniform([-0.3, 1, 7, 0], [0.3, 2, 11, 4], (100, 4))
    real = np.stack([bar(*numbers)[:: rng.choice([-1, 1])] for numbers in drawn])
    found = styles.describe(moved, real, np.arange(100) % 10)
    assert found[0]["style"].startswith(style)
    assert found[0]["moves"] == "all"


def test_a_latent_that_moves_a_corner_of_some_digits_is_described_by_place_and_digits():
    moved = np.tile(bar(), (2, 10, 5, 1, 1))
    moved[0, :3, 3:, 2:6, 20:26] = 1
    found = styles.describe(moved, np.stack([bar(lean=lean) for lean in np.linspace(-1, 1, 100)]), np.arange(100) % 10)
    assert (found[0]["where"], found[0]["moves"]) == ("top right", "0, 1, 2")
    assert found[1]["distance"] == 0
    assert found[1]["style"] == "none"


def moved_bars(*ways):
    """Images of latents that move a bar: each is a function of the value, from -2 to 2, and has (top, bottom, left)."""

    def drawn(top, bottom, left):
        image = np.zeros((28, 28))
        image[top:bottom, left : left + 3] = 1
        return image

    return np.stack([np.broadcast_to([drawn(*way(k)) for k in range(5)], (10, 5, 28, 28)) for way in ways])


def test_a_shift_is_described_in_pixels():
    real = np.stack([bar(lean=lean, half=2 + lean) for lean in np.linspace(-1, 1, 100)])
    moved = moved_bars(lambda k: (5, 20, 8 + k), lambda k: (5 + k, 20 + k, 12))
    across, down = styles.describe(moved, real, np.arange(100) % 10, styles.STYLES | styles.SHIFTS)
    assert across["style"] == "shift across (4.0 px)"
    assert down["style"] == "shift down (4.0 px)"


def test_halves_that_move_alone_are_told_from_a_shift():
    alone = styles.halves(moved_bars(lambda k: (10 - k, 20, 12), lambda k: (6, 16 + k, 12)))
    assert min(alone["height of the top half"], alone["height of the bottom half"]) > 0.8
    together = styles.halves(moved_bars(lambda k: (4 + k, 18 + k, 12)))
    assert together["height of the top half"] == pytest.approx(0.5)
    assert together["width of the top half"] == 0


class Still:
    """Codes that are the pixels; a latent moves one pixel."""

    def transform(self, images):
        return np.asarray(images).reshape(len(images), -1)

    def inverse_transform(self, codes):
        return codes.reshape(-1, 28, 28)


class Centre(Still):
    """The first code is the middle of the ink along a row, the second noise."""

    def transform(self, images):
        columns = np.arange(28)
        first = (images * columns).sum((1, 2)) / images.sum((1, 2))
        return np.stack((first, np.random.default_rng(0).normal(size=len(first))), 1)


def test_moved_latents_change_what_they_should():
    means, stds = np.full((10, 784), 0.5), np.zeros((10, 784))
    stds[:, 5] = 0.1
    stds[:5, 6] = 0.1  # half of the digits only
    moved = digits.move_latents(Still(), means, stds, range(5, 7))
    assert moved.shape == (2, 10, 9, 28, 28)
    change = digits.change_by_digit(moved)
    assert change[0] == pytest.approx(np.full(10, 0.2), abs=1e-6)
    assert digits.unevenness(change) == pytest.approx([0, 1], abs=1e-6)


def test_a_code_that_follows_a_shift_is_found():
    images = np.zeros((4, 28, 28), np.uint8)
    images[:, 8:20, 12:16] = 255
    assert follows(Centre(), images, shifted, np.linspace(-2, 2, 5)) == pytest.approx(1, abs=1e-3)
    assert follows(Centre(), images, turned, np.linspace(-10, 10, 5)) < 0.9  # the middle stays


def test_difference_is_welchs():
    rng = np.random.default_rng(0)
    middle, low, high = difference(rng.normal(1, 0.1, 30), rng.normal(0, 0.1, 20))
    assert middle == pytest.approx(1, abs=0.1)
    assert low < middle < high


def test_codes_are_drawn_beside_their_factors():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(100, 2))
    np.testing.assert_allclose(matched(-factors[:, ::-1], factors), factors)
    labels = np.arange(100) % 2
    assert true_spectrum(factors + 9 * labels[:, None], labels)[:2] == pytest.approx([1, 1], abs=0.25)


def test_training_of_digits_goes_on_from_the_long_run(tmp_path):
    """A hundred epochs of MNIST are 25,000 steps: part of the identity of a checkpoint that others made."""
    assert STEPS["mnist"] == 25_000
    bench = Bench("small", tmp_path)
    assert digits.seconds_of_training(bench, {"data": "mnist"}) == 240
    bench.checkpoint({"data": "mnist"}).write_bytes(b"")
    assert digits.seconds_of_training(bench, {"data": "mnist"}) == 6
    assert digits.seconds_of_training(Bench("paper", tmp_path), {"data": "mnist"}) is None


def test_self_supervised_digits_at_small_scale_need_a_checkpoint(tmp_path):
    with pytest.raises(FileNotFoundError, match=facts("mnist", "--scale paper", "checkpoints")):
        run_digits({"data": "mnist"}, Bench("small", tmp_path))


def test_every_start_is_a_trial():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * [2, 1, 0.01, 0.01]
    sets = X[:, None] + rng.normal(size=(60, 4, 4)) * [0.5, 0.5, 0, 0]
    settings = {"max_steps": 3, "engine": "torch", "random_state": 0, "n_init": 3, "noise": 0.05, "progress": False}
    model = Trials(**settings).fit(sets)
    codes = model.codes_of_starts(X)
    assert codes.shape == (3, 60, 4)
    np.testing.assert_allclose(codes[model.best_init_][:, model.order_], model.transform(X), atol=1e-4)


def test_variables_are_drawn_for_ten_digits_in_seven_columns_and_a_heat_map():
    moved = np.zeros((3, 10, len(digits.VALUES), 28, 28), np.uint8)
    moved[0, :, 6, :, 3] = 255  # at +1, which no column shows and the heat map does
    drawn, blank = (latents_sheet(m, 5).axes[0].images[0].get_array() for m in (moved, moved * 0))
    assert drawn.shape == (10 * 29 - 1, 8 * 29 - 1)
    assert (drawn[:, : 7 * 29] == blank[:, : 7 * 29]).all()
    assert (drawn[:, 7 * 29 :] != blank[:, 7 * 29 :]).any()
    assert [ax.get_title() for ax in latents_sheet(moved, 5).axes] == ["variable 5", "variable 6", "variable 7", ""]
