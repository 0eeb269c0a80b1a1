"""Agreement of runs against closed forms."""

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(600, 2))


def test_linearly_related_codes_agree_and_independent_ones_do_not():
    same = ub.consistency([Z, Z @ RNG.normal(size=(2, 2)) + 5, -Z[:, ::-1]])
    assert same.mean == pytest.approx(1)
    assert same.r_hat == pytest.approx(1)
    assert (same.p, same.matrix.shape) == (0.01, (3, 3))
    other = ub.consistency([Z, RNG.normal(size=(600, 2))])
    assert other.mean == pytest.approx(0, abs=0.03)
    assert other.p > 0.05


def test_noise_lowers_it_to_the_share_of_common_variance():
    """z + e from z + e', both of unit noise: R2 = corr**2 = 1 / 4; from z itself 1 / 2."""
    z = RNG.normal(size=(20000, 1))
    noisy = [z + RNG.normal(size=z.shape) for _ in range(2)]
    found = ub.consistency([z, *noisy], n_null=19)
    np.testing.assert_allclose(found.matrix, [[1, 0.5, 0.5], [0.5, 1, 0.25], [0.5, 0.25, 1]], atol=0.03)


def test_a_code_that_one_run_lacks_counts_in_one_direction():
    found = ub.consistency([Z, Z[:, :1]])
    assert found.matrix[0, 1] == pytest.approx(1)
    assert found.matrix[1, 0] == pytest.approx(0.5, abs=0.02)


def test_data_sets_are_aligned_by_labels():
    """Two sessions along a circle, at other places and of other lengths, with codes that differ by a linear map."""
    angles = [np.sort(RNG.uniform(0, 6, size)) for size in (900, 700)]
    codes = [np.c_[np.cos(a), np.sin(a)] + 0.1 * RNG.normal(size=(len(a), 2)) for a in angles]
    codes[1] = codes[1] @ [[0.0, 2.0], [1.0, 1.0]]
    found = ub.consistency(codes, labels=angles)
    assert found.mean > 0.95
    assert found.p == 0.01
    wrong = ub.consistency(codes, labels=[angles[0], RNG.permutation(angles[1])])
    assert wrong.mean < 0.3
    assert wrong.p > 0.05
    words = [np.where(a < 2, "a", "b").astype(object) + (a // 0.3).astype(int).astype(str) for a in angles]
    assert ub.consistency(codes, labels=words).mean > 0.9


def test_models_are_asked_for_their_codes():
    X = RNG.uniform(size=(200, 2)) @ RNG.normal(size=(2, 4))
    models = [ub.PCAICA(2, random_state=seed).fit(X) for seed in range(2)]
    assert ub.consistency(models, X).mean == pytest.approx(1)
    with pytest.raises(ValueError, match="X"):
        ub.consistency(models)


def test_what_cannot_be_compared():
    for runs, also, fact in (
        ([Z], {}, facts(1)),
        ([Z, Z[:100]], {}, facts(100, 600, "labels")),
        ([Z[:5], Z[:5]], {}, facts(5, 8)),
        ([Z, Z], {"labels": [np.arange(600), np.arange(5)]}, facts(600, 5)),
    ):
        with pytest.raises(ValueError, match=fact):
            ub.consistency(runs, **also)
