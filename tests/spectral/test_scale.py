"""Landmarks, streams and memory: the same answer however the data come."""

import tracemalloc

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from tests.spectral.manifolds import bent_sheets
from unbraid.data.rows import Rows


@pytest.fixture(scope="module")
def sheet():
    return bent_sheets(12_000, 2, n_features=20)


def test_landmarks_are_chosen_and_checked_on_held_out_points(sheet):
    X, factors = sheet
    model = ub.HessianICA(n_factors=2, n_neighbors=14, random_state=0)
    codes = model.fit_transform(X)
    assert ub.metrics.mcc(factors, codes) > 0.999
    assert 0 < model.n_landmarks_ < len(X)
    assert model.selection_.landmarks[-1]["held_out_error"] < 0.02
    np.testing.assert_allclose(model.transform(X[:100]), codes[:100], atol=1e-9)


def test_sorted_data_do_not_bias_the_landmarks(sheet):
    X, factors = sheet
    order = np.argsort(factors[:, 0])
    model = ub.HessianICA(n_factors=2, n_neighbors=14, n_landmarks=1000, random_state=0)
    assert ub.metrics.mcc(factors[order], model.fit_transform(X[order])) > 0.999
    assert model.n_landmarks_ == 1000


def as_memmap(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    return np.load(tmp_path / "x.npy", mmap_mode="r")


def as_dask(X, tmp_path):
    import dask.array as da

    return da.from_array(X, chunks=(3000, 20))


SOURCES = {
    "memory map": as_memmap,
    "dask": as_dask,
    "list of blocks": lambda X, tmp_path: ub.Blocks(np.array_split(X, 7)),
    "function": lambda X, tmp_path: lambda: iter(np.array_split(X, 5)),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_factors(source, sheet, tmp_path):
    X, factors = sheet
    data = SOURCES[source](X, tmp_path)
    model = ub.HessianICA(n_factors=2, n_neighbors=14, n_landmarks=1500, random_state=0).fit(data)
    assert ub.metrics.mcc(factors, np.asarray(model.transform(data))) > 0.999


def test_dask_stays_lazy(sheet, tmp_path):
    X, _ = sheet
    model = ub.HessianICA(n_factors=2, n_neighbors=14, n_landmarks=500, random_state=0).fit(X)
    lazy = model.transform(as_dask(X, tmp_path))
    assert lazy.shape == (12_000, 2)
    np.testing.assert_allclose(lazy.compute(), model.transform(X), atol=1e-9)


def test_memory_does_not_grow_with_pixels_times_points():
    """40,000 rows of 2,000 pixels are 640 MB as floats; fitting and encoding their stream takes a small part."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(2000, 4)))[0].T

    def blocks():
        stream = np.random.default_rng(1)
        for _ in range(80):
            z = stream.uniform(size=(500, 2))
            yield np.c_[np.sin(2 * z[:, 0]), np.cos(2 * z[:, 0]), np.sin(z[:, 1]), np.cos(z[:, 1])] @ basis

    tracemalloc.start()
    codes = ub.HessianICA(n_factors=2, n_neighbors=14, n_landmarks=600, random_state=0).fit_transform(blocks)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert codes.shape == (40_000, 2)
    assert peak < 400e6  # with a PCA sample of 268 MB at most


def test_sampling_is_uniform_and_in_one_pass():
    passes = []

    def blocks():
        passes.append(1)
        yield from np.arange(10_000.0).reshape(10, 1000, 1)

    data = Rows(blocks)
    passes.clear()
    rows = data.sample(2000, np.random.RandomState(0))
    assert len(passes) == 1
    assert len(np.unique(rows)) == 2000
    assert abs(rows.mean() - 4999.5) < 4 * 2887 / 2000**0.5
    assert len(data) == 10_000


def test_small_data_keep_their_order():
    X = np.arange(30.0).reshape(10, 3)
    np.testing.assert_array_equal(Rows(X).sample(100, np.random.RandomState(0)), X)


def test_blocks_of_different_width_are_refused():
    with pytest.raises(ValueError, match=facts((4,), (3,))):
        list(Rows(ub.Blocks([np.zeros((2, 3)), np.zeros((2, 4))])))


@pytest.mark.slow
def test_five_factors():
    X, factors = bent_sheets(30_000, 5)
    model = ub.HessianICA(n_factors=5, random_state=0, n_neighbors=60)
    assert ub.metrics.mcc(factors, model.fit_transform(X)) > 0.998
