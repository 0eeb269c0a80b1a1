"""The reproduction of Horan et al.: verdicts on rows made by hand, and measures against known answers."""

from dataclasses import replace

import numpy as np
import pytest

from tests.facts import facts
from tests.papers.judging import claim, judge, shown, verdicts
from unbraid_papers import horan
from unbraid_papers.bench import Bench
from unbraid_papers.horan_limits import positions, try_limit
from unbraid_papers.horan_manifolds import Images, _source, as_rows, best_map, decoding, images_of, textbook_lem
from unbraid_papers.paper import Rows


def rows(method, manifold, mccs, **others):
    return [
        {"method": method, "manifold": manifold, "seed": seed, "mcc": mcc, **others} for seed, mcc in enumerate(mccs)
    ]


def test_a_manifold_below_the_tolerance_makes_the_claim_partly_true():
    good, bad = rows("HLLE+ICA", "shapes-xy", [0.99, 0.992]), rows("HLLE+ICA", "ffhq 2, 3", [0.88, 0.881])
    found = judge(horan.PAPER, "hlle-every-manifold", manifolds=[*good, *bad])
    assert found.verdict == "partly"
    assert found.held == ["shapes-xy"]
    assert judge(horan.PAPER, "hlle-every-manifold", manifolds=good).verdict == "reproduced"


def test_the_best_baseline_counts_and_samples_are_paired():
    manifolds = rows("HLLE+ICA", "shapes-xy", [0.9, 0.7, 0.8]) + rows("PCA", "shapes-xy", [0.5, 0.5, 0.5])
    networks = rows("AE-2", "shapes-xy", [0.89, 0.69, 0.79]) + rows("VAE-128", "shapes-xy", [0.2, 0.2, 0.2])
    found = judge(horan.PAPER, "hlle-above-baselines", manifolds=manifolds, networks=networks)
    assert {k: v.split()[0] for k, v in shown(found).items()} == {"shapes-xy over AE-2": "0.01"}
    assert found.verdict == "reproduced"
    networks = rows("AE-2", "shapes-xy", [0.91, 0.71, 0.81])
    assert (
        judge(horan.PAPER, "hlle-above-baselines", manifolds=manifolds, networks=networks).verdict == "not reproduced"
    )


def test_a_perfect_map_is_judged_by_manifold():
    good, bad = (
        rows("HLLE+ICA", "shapes-xy", [0, 0], best_map=0.99),
        rows("HLLE+ICA", "ffhq 2, 3", [0, 0], best_map=0.93),
    )
    found = judge(horan.PAPER, "best-linear-map", manifolds=[*good, *bad])
    assert (found.verdict, found.held) == ("partly", ["shapes-xy"])


def test_a_quadratic_map_undoes_what_the_embedding_has_bent():
    codes = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    factors = codes + 0.5 * codes[:, ::-1] ** 2
    # corr(x, x + y^2 / 2) of uniform x, y: 1 / sqrt(1 + var(y^2) / 4 / var(x)) with variances 4 / 45 and 1 / 3
    assert best_map(factors, codes) == pytest.approx((1 + 1 / 15) ** -0.5, abs=0.01)
    assert best_map(factors, codes, degree=2) == pytest.approx(1, abs=1e-9)


def test_fewer_faces_than_the_papers_are_not_comparable():
    good = {"manifolds": Rows(rows("HLLE+ICA", "ffhq 0, 1", [0.99, 0.992]))}
    found = claim(horan.PAPER, "hlle-every-manifold").judge_on(good, {"manifolds": ()}, "small")
    assert (found.verdict, found.outcome) == ("not comparable", "reproduced")


def test_sub_samples_of_faces_that_are_on_disk(monkeypatch, tmp_path):
    """Seeds draw other faces of one sample; components that are not drawn are named with what draws them."""

    class Faces:
        def n_drawn(self, n, random_state):
            return 999

        def sample(self, n, random_state):
            return np.zeros((n, 2, 2, 3)), np.arange(2.0 * n).reshape(n, 2)

    loaded = []
    monkeypatch.setattr("unbraid.datasets.load", lambda name, **options: loaded.append(options) or Faces())
    bench = Bench("small", tmp_path)
    first, second = (images_of("ffhq 0, 1", seed, bench) for seed in (0, 1))
    assert (len(first.X), len(first.X_unseen)) == (800, 200)
    assert len(np.unique(np.r_[first.factors, first.factors_unseen][:, 0])) == 1000
    assert not np.array_equal(first.factors, second.factors)
    assert loaded[0]["components"] == (0, 1)
    with pytest.raises(FileNotFoundError, match=facts("999", "1000", "components=(0, 1, 2)")):
        images_of("ffhq 0, 1, 2", 0, bench)


def test_less_is_better_for_jumps():
    networks = rows("HAE", "shapes-xy", [0, 0], jump=1.2) + rows("AE-2", "shapes-xy", [0, 0], jump=3.0)
    assert judge(horan.PAPER, "autoencoder-jumps", networks=networks).parts == {
        "shapes-xy over AE-2": pytest.approx((1.8, 1.8, 1.8))
    }


def test_fall_is_measured_from_the_square_field():
    def of(method, square, others):
        return [
            {"method": method, "factors": f, "seed": s, "mcc": square if f == "square" else others}
            for f in horan.STRETCHES
            for s in range(3)
        ]

    results = [*of("LEM+ICA", 0.99, 0.5), *of("HLLE+ICA", 0.99, 0.98)]
    assert judge(horan.PAPER, "lem-loses-by-rescaling", rescaling=results).verdict == "reproduced"
    assert judge(horan.PAPER, "hlle-keeps-under-rescaling", rescaling=results).verdict == "reproduced"
    assert (
        judge(horan.PAPER, "hlle-keeps-under-rescaling", rescaling=of("HLLE+ICA", 0.99, 0.5)).verdict
        == "not reproduced"
    )


def test_regret_is_what_the_chosen_neighbourhood_loses():
    figures = ((8, 0.5, 0.1), (12, 0.9, 0.8), (20, 0.95, 0.7))
    tried = [{"manifold": "faces", "k": k, "mcc": m, "isometry": i} for k, m, i in figures]
    found = judge(horan.PAPER, "isometry-chooses-k", neighbours=tried)
    assert found.parts == {"faces": pytest.approx((0.05, 0.05, 0.05))}
    assert found.verdict == "not reproduced"


def test_every_claim_can_be_judged_without_rows_of_the_networks():
    found = verdicts(horan.PAPER, manifolds=rows("PCA", "shapes-xy", [0.5]))
    assert found["hae-every-manifold"] == "cannot be tried here"


@pytest.mark.parametrize(("factors", "last"), [("square", [1, 1]), ("8 : 1", [1, 0.125]), ("log x, exp y", [1, 1])])
def test_positions_lie_within_the_picture(factors, last):
    found = positions(np.array([[0.0, 0.0], [1.0, 1.0]]), factors)
    assert found.tolist() == [[0.0, 0.0], pytest.approx(last)]


class Straight:
    """Codes are the first two pixels; the decoder jumps from one image to another in the middle, or does not."""

    def __init__(self, jumps):
        self.jumps = jumps

    def transform(self, X):
        return as_rows(X)[:, :2]

    def inverse_transform(self, codes):
        codes = np.asarray(codes)
        return np.where(codes > 0.5, 1.0, 0.0) if self.jumps else codes

    def reconstruct(self, X):
        return self.inverse_transform(self.transform(X)).reshape(X.shape)


def test_decoding_tells_a_jump_from_an_even_change():
    corners = np.array([[0, 0], [255, 255]] * 20, np.uint8)
    images = Images(np.tile(np.arange(256, dtype=np.uint8)[:, None], 2), np.zeros((256, 2)), corners, np.zeros((40, 2)))
    even, jumping = (decoding(Straight(j), images, 0, n_pairs=20) for j in (False, True))
    assert even["error"] == pytest.approx(0, abs=1e-9)
    assert even["jump"] < 1.0001
    assert jumping["jump"] > 5  # all of the change in one of 16 steps, on the pairs that differ
    assert even["astray"] < 1e-4


def test_textbook_lem_finds_a_square_field_and_loses_a_long_one():
    from unbraid.metrics import mcc

    latents = np.random.default_rng(0).uniform(size=(400, 2))
    scores = {}
    for factors in ("square", "4 : 1"):
        X = np.rint(255 * np.c_[positions(latents, factors), np.zeros((400, 48))]).astype(np.uint8)
        scores[factors] = mcc(latents, textbook_lem(X, 0, (15,)))
    assert scores["square"] > 0.9 > 0.7 > scores["4 : 1"]


def test_samples_are_bytes_fresh_for_each_seed_and_faces_need_weights(tmp_path, monkeypatch):
    bench = Bench("small", tmp_path)
    first, second = (images_of("shapes-xy", seed, bench) for seed in (0, 1))
    assert first.X.dtype == np.uint8
    assert len(first.X) == 3000
    assert len(first.X_unseen) == 200
    assert not np.array_equal(first.factors, second.factors)
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=facts("digiface_dcgan64.pt", "UNBRAID_DATA")):
        images_of("DCGAN 0, 1", 0, bench)
    with pytest.raises(FileNotFoundError, match=facts("unbraid datasets get ffhq")):
        images_of("ffhq 2, 3", 0, bench)
    with pytest.raises(FileNotFoundError, match=facts("stylegan2-cat.pt", "UNBRAID_DATA")):
        _source("cat2", replace(bench, scale="paper"))


def test_few_images_are_enough():
    assert try_limit({"limit": "images", "at": 200, "seed": 3}, None)["mcc"] > 0.95
