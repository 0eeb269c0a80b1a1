"""What changes only sign and order of the codes: the order of rows and columns, rotation, shift, scale, copies."""

import numpy as np
import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unbraid as ub
from tests.spectral.manifolds import bent_sheets

SETTINGS = settings(
    max_examples=3, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
METHODS = {
    "hessian": ub.HessianICA(2, 12, random_state=0),
    "tangent": ub.TangentICA(2, 12, random_state=0),
    "pca": ub.PCAICA(2, random_state=0),
}
SEEDS = st.integers(0, 2**16)
pytestmark = pytest.mark.filterwarnings("ignore:UB[23]")


def sheet(seed, method):
    """A bent sheet, whose factors are of different length and law; flat for the linear method."""
    X, z = bent_sheets(160, 2, n_features=6, seed=seed)
    return z**2 @ np.random.default_rng(seed).normal(size=(2, 6)) if method == "pca" else X


def rows(X, rng):
    order = rng.permutation(len(X))
    return X[order], lambda codes: codes[np.argsort(order)]


def columns(X, rng):
    return X[:, rng.permutation(X.shape[1])], lambda codes: codes


def rotated(X, rng):
    return X @ np.linalg.qr(rng.normal(size=(X.shape[1],) * 2))[0], lambda codes: codes


def shifted(X, rng):
    return X + 1e4 * rng.normal(size=X.shape[1]), lambda codes: codes


def scaled(X, rng):
    return X * 10 ** rng.uniform(-6, 6), lambda codes: codes


def copied(X, rng):
    return np.concatenate([X, X[rng.permutation(len(X))[:40]]]), lambda codes: codes[: len(X)]


@pytest.mark.parametrize("change", [rows, columns, rotated, shifted, scaled, copied])
@pytest.mark.parametrize("method", METHODS)
@SETTINGS
@given(seed=SEEDS)
def test_codes_are_the_same_up_to_sign_and_order(method, change, seed):
    X = sheet(seed, method)
    other, back = change(X, np.random.default_rng(seed + 1))
    codes, found = METHODS[method].fit_transform(X), back(METHODS[method].fit_transform(other))
    # copies weigh twice in the mean and the covariance of a linear method
    least = 0.97 if (method, change) == ("pca", copied) else 0.9995
    assert ub.metrics.mcc(codes, found) > least


@pytest.mark.filterwarnings("ignore:UB113")
@SETTINGS
@given(seed=SEEDS, column=st.integers(0, 11), power=st.integers(4, 9))
def test_the_unit_of_a_column_hardly_matters(seed, column, power):
    X, z = bent_sheets(160, 2, n_features=12, seed=seed)
    other = X * np.where(np.arange(12) == column, 10.0**power, 1.0)
    plain, found = (ub.metrics.mcc(z, METHODS["hessian"].fit_transform(data)) for data in (X, other))
    assert found > plain - 0.02


@pytest.mark.parametrize("method", METHODS)
def test_every_kind_of_input_gives_the_same_bytes(method, tmp_path):
    da = pytest.importorskip("dask.array")
    X = sheet(5, method)
    np.save(tmp_path / "X.npy", X)
    model = METHODS[method]
    expected = model.fit_transform(X).tobytes()
    inputs = {
        "list": X.tolist(),
        "frame": pandas.DataFrame(X, columns=list("abcdef")),
        "Fortran": np.asfortranarray(X),
        "memory map": np.load(tmp_path / "X.npy", mmap_mode="r"),
        "file": ub.datasets.open(tmp_path / "X.npy"),
        "blocks": ub.Blocks([X[:50], X[50:]]),
    }
    for name, given_ in inputs.items():
        assert np.asarray(model.fit_transform(given_)).tobytes() == expected, name
    lazy = da.from_array(X, chunks=(50, 6))  # codes of a Dask array are those of transform, block by block
    codes = model.fit(lazy).transform(X)
    assert codes.tobytes() == model.fit(X).transform(X).tobytes()
    np.testing.assert_allclose(np.asarray(model.transform(lazy)), codes, rtol=0, atol=1e-12)
