"""Dask arrays: the work is done where the blocks are, in other processes, and little comes back."""

import os

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from tests.spectral.manifolds import bent_sheets
from unbraid.data.lazy import distinct_numbers, map_lazily, picked_rows
from unbraid.data.rows import Rows
from unbraid.data.sources import shared
from unbraid.runtime.determinism import search_threads

zarr = pytest.importorskip("zarr", reason="Zarr is an extra")
da = pytest.importorskip("dask.array", reason="Dask is an extra")


@pytest.fixture(scope="module")
def sheet():
    return bent_sheets(12_000, 2, n_features=20)


@pytest.fixture(scope="module")
def cluster():
    """Two single-threaded worker processes on this machine."""
    distributed = pytest.importorskip("distributed", reason="distributed is an extra")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1"
        ) as found,
        distributed.Client(found) as client,
    ):
        yield client


def spy(block, folder):
    """The block itself; a file says which process computed it."""
    (folder / f"{os.getpid()}-{float(block.flat[0]):.12f}").touch()
    return block


def test_distinct_numbers_are_a_fair_draw():
    counts = np.zeros(20)
    for seed in range(2000):
        counts[distinct_numbers(20, 5, np.random.RandomState(seed))] += 1
    np.testing.assert_allclose(counts / 2000, 0.25, atol=0.05)


def test_picked_rows_are_the_rows():
    X = np.arange(60.0).reshape(20, 3)
    lazy = da.from_array(X, chunks=(6, 2))
    rows = np.array([0, 5, 6, 19])
    found = list(picked_rows(lazy, rows, lambda block: 2 * block))
    np.testing.assert_array_equal(np.concatenate([part for _, part in found]), 2 * X[rows])
    assert sum(passed for passed, _ in found) == 20
    assert len(found) == 3  # the block of rows 12 to 17 is not asked for


def test_a_sample_of_pictures_is_checked_and_in_its_unit():
    images = np.random.default_rng(0).integers(0, 256, (50, 4, 4), dtype=np.uint8)
    lazy = Rows(da.from_array(images, chunks=(7, 4, 2)))
    assert lazy.unit == 255
    np.testing.assert_array_equal(lazy.sample(100, np.random.RandomState(0)), images.reshape(50, -1) / np.float32(255))
    assert Rows(da.from_array(images % 2, chunks=(7, 4, 4))).unit == 1


def test_missing_values_are_found_in_the_tasks():
    X = np.ones((40, 3))
    X[33] = np.nan
    with pytest.raises(ValueError, match=facts("NaN", 1, 10)):
        Rows(da.from_array(X, chunks=(10, 3))).sample(40, np.random.RandomState(0))


def test_progress_counts_every_row():
    told = []
    rows = Rows(da.from_array(np.random.default_rng(0).normal(size=(1000, 3)), chunks=(100, 3)))
    rows.on_read = told.append
    assert rows.sample(200, np.random.RandomState(0), then=lambda x: x[:, :1]).shape == (200, 1)
    assert sum(told) == 1000


def test_a_cluster_reads_and_codes_the_blocks(sheet, cluster, tmp_path):
    """No block is computed in this process: neither by fit, nor by transform; and the codes are the factors."""
    X, factors = sheet[0][:3000], sheet[1][:3000]
    lazy = da.from_array(X, chunks=(400, 20)).map_blocks(spy, tmp_path, dtype=X.dtype, meta=np.empty((0, 20)))
    model = ub.HessianICA(n_factors=2, n_neighbors=14, n_landmarks=500, pca_components=4, random_state=0).fit(lazy)
    codes = model.transform(lazy)
    assert codes.shape == (3000, 2)
    assert ub.metrics.mcc(factors, codes.compute()) > 0.999
    workers = {int(path.name.partition("-")[0]) for path in tmp_path.iterdir()}
    assert len(workers) == 2
    assert os.getpid() not in workers


def test_a_cluster_gives_what_threads_give(sheet, cluster):
    X, _ = sheet
    lazy = da.from_array(X, chunks=(1500, 20))
    model = ub.PCAICA(2, random_state=0)
    with_cluster = model.fit(lazy).components_
    import dask

    with dask.config.set(scheduler="threads"):
        np.testing.assert_array_equal(with_cluster, ub.PCAICA(2, random_state=0).fit(lazy).components_)


def test_a_model_travels_once_and_not_with_every_block(sheet):
    X, _ = sheet
    model = ub.PCAICA(2, random_state=0).fit(X)
    graph = map_lazily(model, da.from_array(X, chunks=(500, 20)), 2).__dask_graph__()
    from cloudpickle import dumps

    kept = [key for key, task in dict(graph).items() if b"components_" in dumps(task)]
    assert len(kept) == 1


def test_evaluate_takes_lazy_codes_and_factors(sheet):
    X, factors = sheet
    codes = 2.0 * factors + 1
    found = ub.evaluate(da.from_array(factors, chunks=(700, 2)), da.from_array(codes, chunks=(500, 1)), metrics="mcc")
    assert found["mcc"].value == pytest.approx(1)
    assert found.n_samples == 10_000
    mixed = ub.evaluate(factors, da.from_array(codes, chunks=(500, 2)), metrics="mcc")
    assert mixed["mcc"].value == pytest.approx(1)


def test_evaluate_takes_a_model_and_lazy_data(sheet):
    X, factors = sheet
    model = ub.PCAICA(2, random_state=0).fit(X)
    pair = da.from_array(X, chunks=(700, 20)), da.from_array(factors, chunks=(500, 2))
    expected = ub.evaluate(model, (X, factors), metrics="mcc")["mcc"].value
    assert ub.evaluate(model, pair, metrics="mcc")["mcc"].value == pytest.approx(expected, abs=0.02)


def test_evaluate_refuses_rows_that_do_not_match():
    with pytest.raises(ValueError, match=facts(20, 30)):
        ub.evaluate(da.ones((20, 2), chunks=10), da.ones((30, 2), chunks=10))


def test_a_zarr_folder_goes_the_same_way(sheet, tmp_path):
    X, factors = sheet
    da.from_array(X, chunks=(3000, 20)).to_zarr(str(tmp_path / "x.zarr"))
    lazy = da.from_zarr(str(tmp_path / "x.zarr"))
    codes = ub.PCAICA(2, random_state=0).fit(lazy).transform(lazy)
    codes.to_zarr(str(tmp_path / "codes.zarr"))
    assert da.from_zarr(str(tmp_path / "codes.zarr")).shape == (12_000, 2)


@pytest.mark.parametrize("opened", [zarr.open_array, ub.datasets.open])
def test_a_cluster_reads_the_blocks_of_a_zarr_folder(sheet, cluster, tmp_path, monkeypatch, opened):
    """This process reads no row, and the codes come as an array, as they do without a cluster."""
    X, _ = sheet
    da.from_array(X, chunks=(1000, 7)).to_zarr(str(tmp_path / "x.zarr"))
    array = opened(tmp_path / "x.zarr")
    expected = ub.PCAICA(2, random_state=0).fit(da.from_array(X, chunks=(3000, 20)))
    with monkeypatch.context() as patch:
        patch.setattr("unbraid.data.sources.BLOCK_BYTES", 3000 * 20 * 8)
        read = zarr.Array.__getitem__

        def no_row(array, where):
            """Dask asks for an empty piece, to learn its kind."""
            assert all(part == slice(0, 0) for part in where), "a row was read in this process"
            return read(array, where)

        patch.setattr(zarr.Array, "__getitem__", no_row)
        blocks = shared(array)
        assert blocks.chunks == ((3000,) * 4, (20,))  # whole chunks, whole rows
        model = ub.PCAICA(2, random_state=0).fit(array)
        codes = model.transform(array)
    np.testing.assert_array_equal(model.components_, expected.components_)
    assert isinstance(codes, np.ndarray)
    np.testing.assert_allclose(codes, model.transform(X), atol=1e-12)


def test_what_no_other_process_can_read_stays_here(cluster, tmp_path):
    in_memory = zarr.array(np.ones((10, 2)))
    plain = np.ones((10, 2))
    assert shared(in_memory) is in_memory
    assert shared(plain) is plain


def test_without_a_cluster_a_zarr_array_is_streamed(tmp_path, monkeypatch):
    import distributed

    def none_there():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed.Client, "current", none_there)
    array = zarr.create_array(tmp_path / "x.zarr", shape=(10, 2), dtype="f4")
    assert shared(array) is array


class Threads:
    """Its codes are the threads that a large search would take."""

    def transform(self, X):
        return np.full((len(X), 1), search_threads())


def test_a_block_is_searched_by_one_thread_as_its_neighbours_have_the_other_cores():
    X = da.zeros((6, 2), chunks=(2, 2))
    assert map_lazily(Threads(), X, 1).compute().ravel().tolist() == [1] * 6
    assert search_threads() == -1
