"""The contract of every method of the table: one line per method that makes it quick, and what it cannot keep."""

import pytest

from unbraid.methods import METHODS
from unbraid.testing import CHECKS, check_estimator_contract


def shake(X, rng):
    return X + 0.05 * rng.normal(size=X.shape)


SMALL = {
    "spectral": {"n_factors": 2, "n_neighbors": 10},
    "autoencoders": {"n_factors": 2, "max_steps": 4, "batch_size": 16, "log_every": 1},
    "contrastive": {"n_factors": 2, "max_steps": 4, "batch_size": 16, "log_every": 1},
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


# Methods that differ from another of the table in a loss or a layer alone, and the checks of what they share with it.
VARIANTS = (
    "tangent-ica", "geodesic-ica", "laplacian-ica", "ltsa", "laplacian-eigenmaps", "beta-vae", "annealed-vae",
    "beta-tcvae", "dip-vae", "nice", "realnvp",
)  # fmt: skip
SHARED = ("inputs", "pictures", "random_state")


def cases():
    """Every method with every check; what variants share with their model takes long and is slow."""
    for name in METHODS:
        for check in CHECKS:
            again = name in VARIANTS and check in SHARED
            yield pytest.param(name, check, marks=[pytest.mark.slow] if again else [], id=f"{name}-{check}")


def small(name):
    """The method, with as little work to do as can be."""
    method = METHODS[name]
    return method.load()(**SMALL.get(name, SMALL.get(method.family, {})))


@pytest.mark.parametrize(("name", "check"), list(cases()))
def test_the_contract(name, check):
    expected = {k: v for k, v in EXPECTED_FAILURES.get(name, {}).items() if k == check}
    (result,) = check_estimator_contract(small(name), checks=[check], expected_failures=expected)
    nothing_to_check = {"resume": not METHODS[name].trained, "decoding": not METHODS[name].decodes}
    assert (result.outcome == "inapplicable") == nothing_to_check.get(check, False)


def test_expected_failures_are_of_methods_that_exist():
    assert set(EXPECTED_FAILURES) <= set(METHODS)
