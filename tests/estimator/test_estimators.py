"""The contract of every method of the table: one line per method that makes it quick, and what it cannot keep."""

import pytest

from unbraid.methods import METHODS
from unbraid.testing import CHECKS, check_estimator_contract


def shake(X, rng):
    return X + 0.05 * rng.normal(size=X.shape)


SMALL = {
    "spectral": {"n_factors": 2, "n_neighbors": 10},
    "autoencoders": {"n_factors": 2, "max_steps": 4, "batch_size": 16, "log_every": 1},
    "flows": {"architecture": "dense", "n_blocks": 2, "hidden": 4, "max_steps": 4, "n_init": 1},
    "geometry": {"dim": 2, "n_jobs": 1},
    "product-manifold": {},
    "pca-ica": {"n_factors": 2},
    "self-supervised-gin": {
        "augment": shake, "architecture": "dense", "n_blocks": 2, "hidden": 4, "max_steps": 4, "n_init": 1
    },
}  # fmt: skip

EXPECTED_FAILURES = {
    "geomancer": {
        "feature_names": "its transform gives one array of three axes per submanifold, which is no table",
    },
}


def small(name):
    """The method, with as little work to do as can be."""
    method = METHODS[name]
    return method.load()(**SMALL.get(name, SMALL.get(method.family, {})))


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", METHODS)
def test_the_contract(name, check):
    expected = {k: v for k, v in EXPECTED_FAILURES.get(name, {}).items() if k == check}
    (result,) = check_estimator_contract(small(name), checks=[check], expected_failures=expected)
    nothing_to_check = {"resume": not METHODS[name].trained, "decoding": not METHODS[name].decodes}
    assert (result.outcome == "inapplicable") == nothing_to_check.get(check, False)


def test_expected_failures_are_of_methods_that_exist():
    assert set(EXPECTED_FAILURES) <= set(METHODS)
