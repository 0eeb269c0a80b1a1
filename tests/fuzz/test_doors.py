"""Generated inputs at the doors: read as the numbers that they hold, or refused by a sentence; never anything else.

Reading and refusing costs microseconds, so the doors see thousands of inputs. What may come out is known for each
before it is read: its rows, or that they must be refused.
"""

import datetime
import warnings
from dataclasses import dataclass
from typing import Any

import dask.array
import numpy as np
import pandas
import polars
import pytest
import scipy.sparse as sp
import torch
import zarr

import unbraid as ub
from tests.fuzz.test_fuzz import check_sentence
from unbraid.data.labels import parse_labels
from unbraid.data.rows import Rows

REFUSED = "refused"  # in place of the rows that must come out
OTHER = (ValueError, TypeError)
NAMES = ("tocsr", "sample", "dask", "cpu", "columns", "x", "shape", "T")
TYPES = ("f2", "f4", "f8", ">f4", ">f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "O", "longdouble")


@dataclass
class Made:
    """An input, and what must come out: rows as float64 in the unit of Rows, or REFUSED."""

    name: str
    given: Any
    rows: Any


def numbers(rng):
    """A small array of any type and layout, whose numbers all methods take."""
    shape = tuple(rng.integers(1, 6, size=rng.integers(2, 5)))
    dtype = np.dtype(TYPES[rng.integers(len(TYPES))])
    values = rng.integers(0, 2, shape) if dtype.kind == "b" else rng.integers(0, 100, shape)
    array = values.astype(dtype)
    return [array, np.asfortranarray(array), np.repeat(array, 2, axis=0)[::2], array[::-1].copy()[::-1]][
        rng.integers(4)
    ]


def expected(array):
    unit = 255 if array.dtype == np.uint8 and array.ndim in (3, 4) and array.max() > 1 else 1
    return array.astype(np.float64) / unit


def spoilt(array, rng):
    """One value that must be noticed, in a place of its own."""
    array = array.astype(np.float64)
    array[tuple(rng.integers(0, side) for side in array.shape)] = rng.choice([np.nan, np.inf, -np.inf, 1e200, -1e300])
    return array


def parts(array, rng):
    """The rows in some blocks, a few of them empty."""
    cuts = np.sort(rng.integers(0, len(array) + 1, size=rng.integers(0, 4)))
    return np.split(array, cuts)


def as_containers(array, rng):
    """The same rows in every container, as the numbers that they are."""
    rows = expected(array)
    native = array.dtype.isnative and array.dtype.kind != "O" and array.dtype != np.longdouble
    yield Made("array", array, rows)
    yield Made("read-only", np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape) if native else array, rows)
    yield Made("blocks", ub.Blocks(parts(array, rng)), rows)
    yield Made("function", lambda: iter(parts(array, np.random.default_rng(0))), rows)
    yield Made("unmasked", np.ma.MaskedArray(array), rows)
    yield Made("list", list(array), rows)
    if native:
        yield Made("tensor", torch.from_numpy(array.copy()), rows)
        yield Made("memory view", np.asarray(memoryview(np.ascontiguousarray(array))), rows)
    if array.ndim == 2:
        names = rng.choice(NAMES, array.shape[1], replace=False)
        frame = {str(name): column for name, column in zip(names, array.T)}
        if native:
            yield Made("frame", pandas.DataFrame(frame), rows)
            yield Made("polars", polars.DataFrame({k: np.ascontiguousarray(v) for k, v in frame.items()}), rows)
    if array.dtype.kind != "O" and array.dtype.isnative:
        chunks = tuple(max(1, side // 2) for side in array.shape)
        yield Made("dask", dask.array.from_array(np.ascontiguousarray(array), chunks=chunks), rows)


def as_refused(array, rng):
    """The same rows with something that must not pass."""
    floats = array.astype(np.float64)
    lazy = dask.array.from_array(floats, chunks=(max(1, len(floats) // 2), *floats.shape[1:]))
    said = {"dtype": np.float64, "meta": np.empty((0,) * floats.ndim)}
    mask = np.zeros(floats.shape, bool)
    mask[0] = True
    bad = spoilt(array, rng)
    yield Made("spoilt", bad, REFUSED)
    yield Made("spoilt blocks", ub.Blocks(parts(bad, rng)), REFUSED)
    yield Made("spoilt tensor", torch.from_numpy(bad), REFUSED)
    yield Made("spoilt dask", dask.array.from_array(bad), REFUSED)
    yield Made("spoilt list", bad.tolist(), REFUSED)
    yield Made("complex", array.astype(complex), REFUSED)
    yield Made("conjugate", torch.from_numpy(floats.astype(complex)).conj(), REFUSED)
    yield Made("meta tensor", torch.empty(floats.shape, device="meta"), REFUSED)
    yield Made("sparse tensor", torch.from_numpy(floats).to_sparse(), REFUSED)
    yield Made("dates", floats.astype("M8[s]"), REFUSED)
    yield Made("durations", floats.astype("m8[ns]"), REFUSED)
    yield Made("text", floats.astype(str), REFUSED)
    yield Made("objects", np.full(floats.shape, "a", dtype=object), REFUSED)
    yield Made("huge", np.full(floats.shape, 10**400, dtype=object), REFUSED)
    yield Made("masked", np.ma.MaskedArray(floats, mask), REFUSED)
    yield Made("lazily masked", dask.array.ma.masked_array(lazy, mask), REFUSED)
    yield Made("lazily complex", lazy.map_blocks(lambda x: x * 1j, **said), REFUSED)
    yield Made("lazy dates", lazy.map_blocks(lambda x: x.astype("M8[s]"), **said), REFUSED)
    yield Made("lazy bytes", lazy.map_blocks(lambda x: x.astype(np.uint8), **said), REFUSED)
    yield Made("no rows", floats[:0], REFUSED)
    yield Made("empty blocks", ub.Blocks([floats[:0]]), REFUSED)
    yield Made("no features", floats[..., :0], REFUSED)
    yield Made("ragged", [floats[0].tolist(), floats[0].tolist() + [0]], REFUSED)
    yield Made("two shapes", ub.Blocks([floats, floats[..., :1].repeat(7, axis=-1)]), REFUSED)
    yield Made("flat", floats.ravel(), REFUSED)
    yield Made("one number", floats.ravel()[0], REFUSED)
    yield Made("an iterator", iter([floats]), REFUSED)
    yield Made("a path", "x.npy", REFUSED)
    yield Made("a dictionary", {"X": floats}, REFUSED)
    if floats.ndim == 2:
        days = [datetime.date(2020, 1, 1)] * len(floats)
        yield Made("sparse", sp.coo_array(floats), REFUSED)
        yield Made("lazily sparse", lazy.map_blocks(sp.csr_array, **said), REFUSED)
        yield Made("polars with dates", polars.DataFrame({"a": floats[:, 0], "day": days}), REFUSED)
        yield Made("polars with text", polars.DataFrame({"a": floats[:, 0], "b": ["x"] * len(floats)}), REFUSED)
        yield Made("frame with dates", pandas.DataFrame({"a": floats[:, 0], "day": pandas.to_datetime(days)}), REFUSED)
        yield Made("frame with text", pandas.DataFrame({"a": floats[:, 0], "b": "x"}), REFUSED)
        yield Made("frame with gaps", pandas.DataFrame(floats).astype("Float64").mask(mask), REFUSED)


def check(made, read, inputs):
    """An input must come out as its rows, or be refused."""
    inputs()
    refusal = None
    try:
        with np.errstate(all="ignore"):
            found = read(made.given)
    except OTHER as error:
        refusal = error
    if refusal is not None:
        inputs.refused()
        check_sentence(refusal, made.name)
        assert made.rows is REFUSED, (made.name, str(refusal))
        return
    assert made.rows is not REFUSED, f"{made.name} was taken"
    np.testing.assert_allclose(found, made.rows, rtol=1e-6, err_msg=made.name)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_rows(seed, inputs):
    """Every container, good and bad, read whole; lazy ones also as a sample, where their blocks are."""
    rng = np.random.default_rng(seed)
    for _ in range(25):
        array = numbers(rng)
        for made in (*as_containers(array, rng), *as_refused(array, rng)):
            check(made, lambda X: Rows(X).array(), inputs)
            if "dask" in made.name or "laz" in made.name:
                flat = made.rows if made.rows is REFUSED else made.rows.reshape(len(made.rows), -1)
                sampled = Made(f"{made.name}, a sample", made.given, flat)
                check(sampled, lambda X: Rows(X).sample(100, np.random.RandomState(0)), inputs)
    assert 100 < inputs.n_refused < inputs.count - 100


LABELS = [
    lambda rng, n: rng.integers(0, 3, n),
    lambda rng, n: rng.integers(0, 3, n).astype(rng.choice(["i1", "u8", "f4", "?", "O", "U3"])),
    lambda rng, n: rng.choice(np.array(["a", "b"], dtype=rng.choice(["U1", "O"])), n),
    lambda rng, n: rng.normal(size=(n, rng.integers(1, 4))),
    lambda rng, n: rng.dirichlet(np.ones(3), n),
    lambda rng, n: rng.choice([0.0, 1.0, np.nan, np.inf], n),
    lambda rng, n: np.ones(n),
    lambda rng, n: np.arange(n),
    lambda rng, n: rng.integers(0, 2, (n, 2, 2)),
    lambda rng, n: rng.integers(0, 2, n + rng.integers(-2, 3)),
    lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-200, 200),
    lambda rng, n: rng.integers(0, 2, n).astype(object) + 10**30,
]


def test_labels(inputs):
    """Any labels: as many values as rows, finite and of a kind that there is, or a sentence."""
    rng = np.random.default_rng(0)
    for number in range(2500):
        inputs()
        n = int(rng.integers(3, 12))
        labels = LABELS[number % len(LABELS)](rng, n)
        condition = str(rng.choice(["auto", "classes", "soft", "continuous"]))
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="UB303")
                found = parse_labels(labels, n, condition)
        except OTHER as error:
            check_sentence(error, (number, condition))
            inputs.refused()
            continue
        assert len(found.values) == n, number
        assert found.kind in ("classes", "soft", "continuous"), number
        assert np.isfinite(found.values.astype(float)).all(), (number, condition)


EVIDENCE = {"labels": 2, "pairs": 2, "time": 1, "sets": 1, "covariates": 2, "factors": 2, "names": 1}


def test_evidence(inputs):
    """What is known about rows is kept, one value per row, or refused."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(8, 2))
    kept = 0
    for number in range(1000):
        inputs()
        name = str(rng.choice(list(EVIDENCE)))
        dtype = str(rng.choice(["f8", "i8", "u8", "?", "U5", "M8[s]", "m8[s]", "c16", "O"]))
        shape = ((8,), (8, 2), (8, 1), (5, 2), (7,), (8, 2, 2), (0,), ())[rng.integers(8)]
        values = rng.integers(0, 8, shape).astype(dtype)
        try:
            known = ub.Observations(X, **{name: torch.from_numpy(values) if dtype == "f8" and shape else values})
        except OTHER as error:
            check_sentence(error, (number, name, dtype, shape))
            inputs.refused()
            continue
        kept += 1
        value = getattr(known, name)
        assert value.dtype.kind != "c", number
        assert name == "pairs" or len(value) == 8, (number, name, shape)
        assert name != "pairs" or (value.shape[1] == 2 and value.max(initial=0) < 8), number
    assert 100 < kept < 900, kept


def test_paths(tmp_path, monkeypatch, inputs):
    """Names of any letters, and what they may stand for: read, or refused by a sentence that can be printed."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4, 3))
    letters = [
        "a",
        " ",
        "\n",
        "\t",
        "'",
        '"',
        "%b",
        "{x}",
        "\\",
        "é",
        "\N{ROCKET}",
        "\udcff",
        "*",
        "-",
        "#",
        "?",
        "\x01",
    ]
    for number in range(400):
        inputs()
        name = "".join(rng.choice(letters, rng.integers(1, 5))) + str(number)
        ending = str(rng.choice([".npy", ".npz", ".csv", ".zarr", ".txt"]))
        path = tmp_path / f"{name}{ending}"
        with path.open("wb") as file:
            if ending == ".npy":
                np.save(file, X)
            elif ending == ".npz":
                np.savez(file, X=X)
            elif ending == ".csv":
                np.savetxt(file, X, delimiter=",")
            elif number % 2:
                file.write(bytes(rng.integers(0, 256, 40, dtype=np.uint8)))
        unreadable = ending in (".zarr", ".txt") or "\udcff" in name
        try:
            found = ub.datasets.open(path)[:]
        except OTHER as error:
            check_sentence(error, path)
            inputs.refused()
            str(error).encode()
            found = None
        assert (found is None) == unreadable, path
        if unreadable:
            continue
        np.testing.assert_allclose(found, X, err_msg=name)


def test_damaged_folders(tmp_path, inputs):
    """A zarr of which files are missing, cut, moved or of another kind: refused, warned of, or read as it was."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(12, 3))
    for number in range(60):
        inputs()
        folder = tmp_path / f"{number}.zarr"
        version = int(rng.integers(2, 4))
        zarr.open_array(folder, mode="w", shape=X.shape, chunks=(4, 3), dtype="f8", zarr_format=version)[:] = X
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        victim = files[rng.integers(len(files))]
        kind = rng.integers(5)
        content = victim.read_bytes()
        victim.unlink()
        if kind == 1:
            victim.mkdir()
        elif kind == 2:
            victim.write_bytes(content[: rng.integers(len(content))])
        elif kind == 3:
            victim.symlink_to("/dev/zero")
        elif kind == 4:
            victim.with_name("moved").write_bytes(content)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = ub.datasets.open(folder)[:]
            except OTHER as error:
                check_sentence(error, (number, kind))
                inputs.refused()
                continue
        told = any("UB304" in str(warning.message) for warning in caught)
        assert told or np.array_equal(found, X), (number, kind, victim.name)
