"""ICA against known mixtures, and scikit-learn."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from unbraid.metrics import mcc
from unbraid.spectral.ica import excess_kurtosis, rotations, whitening


@pytest.mark.parametrize("contrast", ["kurtosis", "logcosh"])
@pytest.mark.parametrize("d", [2, 3, 5])
@pytest.mark.parametrize("source", ["uniform", "laplace"])
def test_known_mixture_is_undone(contrast, d, source):
    rng = np.random.default_rng(d)
    factors = getattr(rng, source)(size=(20_000, d))
    Y = factors @ rng.normal(size=(d, d)) + 3
    Z = whitening(Y)(Y)
    (found,) = rotations(Z, contrast=contrast, random_state=np.random.RandomState(0))
    np.testing.assert_allclose(found.matrix @ found.matrix.T, np.eye(d), atol=1e-8)
    assert mcc(factors, Z @ found.matrix.T) > 0.999
    assert found.converged == 1
    assert found.stability > 0.99


def test_gaussian_factors_show_as_unstable():
    Z = np.random.default_rng(0).normal(size=(3000, 5)) @ ortho_group.rvs(5, random_state=0)
    found = rotations(whitening(Z)(Z), contrast="auto", random_state=np.random.RandomState(0))
    assert [r.contrast for r in found] == ["kurtosis", "logcosh"]
    assert max(r.stability for r in found) < 0.95
    assert abs(excess_kurtosis(Z)).max() < 0.2


def test_one_factor_needs_no_rotation():
    (found,) = rotations(np.random.default_rng(0).normal(size=(50, 1)), contrast="logcosh", random_state=None)
    assert found.matrix.tolist() == [[1.0]]


def test_unknown_contrast_lists_the_known_ones():
    with pytest.raises(ValueError, match="'kurtosis', 'logcosh'"):
        rotations(np.zeros((5, 2)), contrast="skew", random_state=np.random.RandomState(0))


def test_a_flat_embedding_is_refused():
    with pytest.raises(ValueError, match="fewer factors"):
        whitening(np.outer(np.arange(10.0), [1.0, 2.0]))
