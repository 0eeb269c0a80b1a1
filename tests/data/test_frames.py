"""Tables and the formats of labs: the columns asked for, in that order, or an error that names the column."""

import io
import os
import zipfile

import h5py
import numpy as np
import pandas
import pytest
import scipy.io
import zarr

from tests.facts import facts
from unbraid import datasets
from unbraid.data.frames import column_of
from unbraid.trust.warnings import DataWarning

X = np.random.default_rng(0).normal(size=(20, 3))
FRAME = pandas.DataFrame(X, columns=["a", "b", "c"])
WRITERS = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    ".parquet": lambda frame, path: frame.to_parquet(path),
    ".feather": lambda frame, path: frame.to_feather(path),
    ".xlsx": lambda frame, path: frame.to_excel(path, index=False),
}


@pytest.mark.parametrize("ending", WRITERS)
def test_tables(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    WRITERS[ending](FRAME.assign(kind="x", batch=np.arange(20) % 3), path)
    with pytest.raises(ValueError, match=facts("kind", "--columns", "a, b, c, kind, batch")):
        datasets.open(path)
    found = datasets.open(path, columns=["c", "a"])
    np.testing.assert_allclose(found[:], X[:, [2, 0]], rtol=1e-12)
    assert found.names == ["c", "a"]
    assert column_of(path, "kind").tolist() == ["x"] * 20
    assert column_of(path, "batch").dtype.kind == "i"
    with pytest.raises(ValueError, match=facts("'d'", "a, b, c")):
        datasets.open(path, columns=["d"])
    path.write_bytes(b"\xff\xfe\x00 not a table \x80" * 20)
    with pytest.raises(ValueError, match=facts(f"t{ending}")):
        datasets.open(path)


@pytest.mark.parametrize(
    ("text", "values", "names"),
    [
        ("1,2\n3,4\n", [[1, 2], [3, 4]], ["0", "1"]),
        ("x;y\n1,5;2\n2,5;3\n", [[1.5, 2], [2.5, 3]], ["x", "y"]),
        ("\ufeffx, y\n1, 2\n", [[1, 2]], ["x", "y"]),
        ("x\ty\n1\t2\n", [[1, 2]], ["x", "y"]),
    ],
    ids=["no header", "decimal comma", "byte order mark", "tabs"],
)
def test_habits_of_csv(tmp_path, text, values, names):
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    found = datasets.open(tmp_path / "a.csv")
    np.testing.assert_array_equal(found[:], values)
    assert found.names == names


def test_gaps_and_repeated_names(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,\n2,3\n")
    with pytest.raises(ValueError, match=facts("a.csv", 1, 2, "'y'")):
        datasets.open(tmp_path / "a.csv")
    pandas.DataFrame([[1, 2]], columns=["x", "x"]).to_excel(tmp_path / "a.xlsx", index=False)
    assert datasets.open(tmp_path / "a.xlsx").names == ["x", "x.1"]


def test_matlab(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"spectra": X, "other": np.arange(3)})
    np.testing.assert_array_equal(datasets.open(tmp_path / "a.mat", "spectra")[:], X)
    with pytest.raises(ValueError, match=facts("a.mat", "key", "spectra", "other")):
        datasets.open(tmp_path / "a.mat")
    with h5py.File(tmp_path / "b.mat", "w") as file:  # version 7.3 stores columns first
        file["spectra"] = X.T
    np.testing.assert_array_equal(datasets.open(tmp_path / "b.mat")[:], X)


def test_a_matlab_structure_is_named_with_its_fields(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"recording": {"rates": X, "rat": 3}})
    with pytest.raises(ValueError, match=facts("a.mat", "structure", "rates", "rat")):
        datasets.open(tmp_path / "a.mat")


@pytest.mark.parametrize(("name", "separator"), [("a.txt", "\t"), ("a.txt", ";"), ("a.dat", " ")])
def test_text_tables_of_instruments(tmp_path, name, separator):
    np.savetxt(tmp_path / name, X, delimiter=separator)
    np.testing.assert_allclose(datasets.open(tmp_path / name)[:], X)


def test_cells_and_netcdf(tmp_path):
    anndata = pytest.importorskip("anndata")
    xarray = pytest.importorskip("xarray")
    import scipy.sparse

    cells = anndata.AnnData(scipy.sparse.csr_matrix(np.abs(X)), obsm={"X_pca": X[:, :2]})
    for frame in (cells.obs, cells.var):  # anndata writes no names in Arrow's text yet
        frame.index = pandas.Index(frame.index.to_numpy(dtype=object), dtype=object)
    cells.write_h5ad(tmp_path / "a.h5ad")
    np.testing.assert_array_equal(datasets.open(tmp_path / "a.h5ad")[:], np.abs(X))
    np.testing.assert_array_equal(datasets.open(tmp_path / "a.h5ad", "obsm/X_pca")[:], X[:, :2])
    xarray.Dataset({"wind": (("time", "place"), X)}).to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    np.testing.assert_array_equal(datasets.open(tmp_path / "a.nc")[:], X)


def rewritten(path, old, new):
    data = path.read_bytes()
    assert data.count(old) >= 1
    path.write_bytes(data.replace(old, new))
    return path


def test_headers_that_lie(tmp_path):
    """Negative shapes, and shapes that reach into the bytes of the next array."""
    np.save(tmp_path / "a.npy", X)
    rewritten(tmp_path / "a.npy", b"(20, 3)", b"(-1, 3)")
    with pytest.raises(ValueError, match=facts("a.npy", (-1, 3))):
        datasets.open(tmp_path / "a.npy")
    data = io.BytesIO()
    np.save(data, X)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("first.npy", data.getvalue().replace(b"(20, 3)", b"(30, 3)"))
        archive.writestr("second.npy", data.getvalue())
    with pytest.raises(ValueError, match=facts("a.npz", 720, 480)):
        datasets.open(tmp_path / "a.npz", "first")


def test_encrypted_archives(tmp_path):
    np.savez(tmp_path / "a.npz", X=X)
    data = bytearray((tmp_path / "a.npz").read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + place] |= 1
    (tmp_path / "a.npz").write_bytes(data)
    with pytest.raises(ValueError, match=facts("a.npz", "password")):
        datasets.open(tmp_path / "a.npz")


@pytest.mark.parametrize("values", [np.array(["a", "b"]), np.zeros(2, [("x", float)]), np.zeros(2, "M8[s]")], ids=str)
def test_text_records_and_dates(tmp_path, values):
    np.save(tmp_path / "a.npy", values)
    np.savez(tmp_path / "a.npz", values)
    for name in ("a.npy", "a.npz"):
        with pytest.raises(ValueError, match=facts(name, values.dtype)):
            datasets.open(tmp_path / name)


def test_zarr_chunks_that_are_missing_or_damaged(tmp_path):
    array = zarr.open_array(tmp_path / "a.zarr", mode="w", shape=X.shape, dtype=X.dtype, chunks=(5, 3))
    array[:] = X
    chunks = sorted(p for p in (tmp_path / "a.zarr").rglob("*") if p.is_file() and p.name != "zarr.json")
    chunks[1].write_bytes(b"no chunk")
    with pytest.raises(ValueError, match=facts("a.zarr", "Zstd")):
        datasets.open(tmp_path / "a.zarr")[:]
    chunks[1].unlink()
    with pytest.warns(DataWarning, match=facts("UB304", "1 of 4", "0.0")):
        datasets.open(tmp_path / "a.zarr")


def test_a_pipe_is_refused_and_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "a.npy")
    with pytest.raises(ValueError, match=facts("a.npy", "pipe")):
        datasets.open(tmp_path / "a.npy")
