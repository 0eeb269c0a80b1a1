"""One way in: every kind of input gives the same rows, the one rule of units, and what is refused with which words."""

import datetime

import dask.array
import numpy as np
import pandas
import polars
import pytest
import scipy.sparse as sp
import torch
from PIL import Image
from sklearn.base import clone

import unbraid as ub
from tests.estimator.exemplary import Exemplary
from tests.facts import facts
from unbraid.data.rows import Rows
from unbraid.testing.data import kinds_of

TABLE = np.random.default_rng(0).normal(size=(10, 3))
BYTES = np.random.default_rng(1).integers(0, 256, size=(10, 4, 5)).astype(np.uint8)
ZERO_ONE = (BYTES > 127).astype(np.uint8)


class Frame:
    """What polars and others have in common with pandas."""

    columns = ("a", "b", "c")
    shape = TABLE.shape

    def to_numpy(self):
        return TABLE


@pytest.mark.parametrize("X", [TABLE, TABLE.astype(np.float32), BYTES, BYTES / 255], ids=str)
def test_every_kind_gives_the_same_rows(X, tmp_path):
    known = Rows(X)
    with kinds_of(X, tmp_path) as kinds:
        assert len(kinds) >= 8 + (X.dtype == np.float64)
        for kind, source in kinds.items():
            rows = Rows(source)
            assert (len(rows), rows.row_shape, rows.unit) == (len(X), X.shape[1:], known.unit), kind
            np.testing.assert_array_equal(rows.array(), known.array(), err_msg=kind)
            sample = rows.sample(100, np.random.RandomState(0))
            np.testing.assert_array_equal(sample, known.array().reshape(10, -1), err_msg=kind)
            if "blocks" in kind:
                with pytest.raises(TypeError, match=facts("rows", "array")):
                    rows.take(np.array([3, 1, 3]))
            else:
                np.testing.assert_array_equal(rows.take(np.array([3, 1, 3])), X[[3, 1, 3]], err_msg=kind)
                assert rows.fingerprint() == known.fingerprint(), kind


def test_frames_have_names():
    for frame in (pandas.DataFrame(TABLE, columns=list("abc")), Frame()):
        rows = Rows(frame)
        np.testing.assert_array_equal(rows.array(), TABLE)
        assert rows.names == ["a", "b", "c"]
    assert Rows(pandas.DataFrame(TABLE)).names is None


def test_the_missing_values_of_nullable_columns_are_gaps():
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5]}).convert_dtypes()
    frame.iloc[1, 0] = pandas.NA
    np.testing.assert_array_equal(Rows(frame, gaps=True).array(), [[1, 0.5], [np.nan, 1.5], [3, 2.5]])
    with pytest.raises(ValueError, match="NaN"):
        Rows(frame).array()


def test_a_list_of_images_is_a_stack_whatever_their_number():
    """A list of two HxW images used to be read as two blocks of rows."""
    for images in (
        list(BYTES),
        tuple(BYTES),
        [torch.from_numpy(x) for x in BYTES],
        [Image.fromarray(x) for x in BYTES],
    ):
        rows = Rows(images)
        assert (len(rows), rows.row_shape, rows.unit) == (10, (4, 5), 255)
        np.testing.assert_array_equal(rows.array(), Rows(BYTES).array())


def test_items_of_a_torch_data_set_are_rows_with_channels_last():
    colours = torch.from_numpy(np.repeat(BYTES[:, None], 3, axis=1))  # (10, 3, 4, 5)
    rows = Rows(torch.utils.data.Subset(torch.utils.data.TensorDataset(colours, torch.arange(10)), [4, 2]))
    assert rows.row_shape == (4, 5, 3)
    np.testing.assert_array_equal(rows.array()[..., 1], Rows(BYTES).array()[[4, 2]])


def test_data_sets_draw_the_same_rows_again():
    finite = ub.datasets.load("shapes-xy", image_size=16)
    rows = Rows(finite, drawn=50)
    np.testing.assert_array_equal(rows.array(), rows.array())
    assert len(rows) == len(rows.array())
    assert rows.row_shape == finite.shape
    endless = Rows(ub.datasets.load("isometric"), drawn=50)
    assert endless.endless
    assert len(endless) == len(endless.array()) == 50
    np.testing.assert_array_equal(endless.array(), endless.array())


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ("bool", "float32"),
        ("uint8", "float32"),
        ("int16", "float32"),
        ("int32", "float64"),
        ("int64", "float64"),
        ("uint64", "float64"),
        ("float16", "float32"),
        ("float32", "float32"),
        ("float64", "float64"),
        ("longdouble", "float64"),
        (">f4", "float32"),
        (">i8", "float64"),
        ("O", "float64"),
    ],
)
def test_types_are_read_as_the_smallest_float_that_holds_them(stored, read):
    X = np.array([[0, 1], [1, 1], [1, 0]]).astype(stored)
    values = Rows(X).array()
    assert values.dtype == np.dtype(read)
    np.testing.assert_array_equal(values, [[0, 1], [1, 1], [1, 0]])


def test_big_offsets_keep_their_value():
    seconds = 1_700_000_000_000 + np.arange(6).reshape(3, 2)
    np.testing.assert_array_equal(Rows(seconds).array() - 1_700_000_000_000, np.arange(6).reshape(3, 2))
    np.testing.assert_array_equal(Rows(np.int32(2**30) + np.eye(2, dtype=np.int32)).array() - 2**30, np.eye(2))


def test_tensors_on_a_graph_and_of_bfloat16():
    X = torch.tensor([[1.0, 2.5]], requires_grad=True)
    np.testing.assert_array_equal(Rows(X).array(), [[1, 2.5]])
    np.testing.assert_array_equal(Rows(X.to(torch.bfloat16)).array(), [[1, 2.5]])


def test_the_unit_of_stored_rows():
    """Bytes of two or three axes are pictures; 0 and 1 alone are read as they are, all else by 255."""
    for X in (BYTES, BYTES[..., None], np.asfortranarray(BYTES)):
        rows = Rows(X)
        assert (rows.is_picture, rows.unit) == (True, 255)
        np.testing.assert_allclose(rows.array(), X / 255, rtol=1e-6)
    for X in (ZERO_ONE, ZERO_ONE.astype(bool)):
        rows = Rows(X)
        assert (rows.is_picture, rows.unit) == (True, 1)
        np.testing.assert_array_equal(rows.array(), ZERO_ONE)
    for X in (BYTES.reshape(10, -1), BYTES.astype(np.int64), BYTES.astype(float), BYTES.view(np.int8)):
        rows = Rows(X)
        assert (rows.is_picture, rows.unit) == (False, 1)
        np.testing.assert_array_equal(rows.array(), X)


class Bounded(Exemplary):
    unit_interval = True


FLOATS = (BYTES / 255).astype(np.float32)
UNITS = {
    # fitted on, given, what is read (None: refused), what a model that asks for [0, 1] reads
    "bytes, bytes": (BYTES, BYTES, FLOATS, FLOATS),
    "bytes, dark bytes": (BYTES, ZERO_ONE, ZERO_ONE / 255, ZERO_ONE / 255),
    "bytes, floats": (BYTES, FLOATS, FLOATS, FLOATS),
    "bytes, floats to 255": (BYTES, BYTES.astype(float), "[0, 1]", "[0, 1]"),
    "bytes, wide integers": (BYTES, BYTES.astype(np.int64), "[0, 1]", "[0, 1]"),
    "bytes, bools": (BYTES, ZERO_ONE.astype(bool), ZERO_ONE, ZERO_ONE),
    "zero-one, zero-one": (ZERO_ONE, ZERO_ONE, ZERO_ONE, ZERO_ONE),
    "zero-one, bytes": (ZERO_ONE, BYTES, "[0, 1]", "[0, 1]"),
    "bools, zero-one": (ZERO_ONE.astype(bool), ZERO_ONE, ZERO_ONE, ZERO_ONE),
    "bools, bytes": (ZERO_ONE.astype(bool), BYTES, "[0, 1]", "[0, 1]"),
    "floats, floats": (FLOATS, FLOATS, FLOATS, FLOATS),
    "floats, other floats": (FLOATS, 3 * FLOATS, 3 * FLOATS, "[0, 1]"),
    "floats, bytes": (FLOATS, BYTES, "X / 255", FLOATS),
    "floats, zero-one": (FLOATS, ZERO_ONE, "X / 255", "X.astype(bool)"),
    "floats, bools": (FLOATS, ZERO_ONE.astype(bool), "X / 255", ZERO_ONE),
    "table, table": (BYTES[:, 0], BYTES[:, 0], BYTES[:, 0], BYTES[:, 0]),
    "table, float table": (BYTES[:, 0], BYTES[:, 0].astype(float), BYTES[:, 0], BYTES[:, 0]),
}


@pytest.mark.parametrize("case", UNITS)
@pytest.mark.parametrize("cls", [Exemplary, Bounded])
def test_the_unit_of_new_rows(case, cls):
    fitted, given, *read = UNITS[case]
    expected = read[cls is Bounded]
    model = cls(random_state=0).fit(fitted)
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=facts(expected)):
            model.transform(given)
        return
    np.testing.assert_allclose(model._read_new(given).array(), expected, rtol=1e-6)
    telling = [i for i in range(10) if given[i].max() > 1 or "dark" in case]  # one row must be read as among others
    for i in telling:
        np.testing.assert_allclose(model._read_new(given[i : i + 1]).array()[0], expected[i], rtol=1e-6)


def test_float_pictures_beyond_one_are_refused_in_fit_by_models_that_ask_for_it():
    with pytest.raises(ValueError, match=facts("[0, 1]", 3)):
        Bounded().fit(3 * FLOATS / FLOATS.max())
    assert Bounded().fit(3 * FLOATS.reshape(10, -1)).unit_ == 1, "a table has no such bound"


def test_pictures_are_decoded_within_one_and_tables_in_their_own_unit():
    model = Exemplary(random_state=0).fit(BYTES)
    back = model.inverse_transform(100 * model.transform(BYTES))
    assert back.shape == BYTES.shape
    assert (back.min(), back.max()) == (0, 1)
    table = Exemplary(random_state=0).fit(BYTES[:, 0])
    assert table.inverse_transform(table.transform(BYTES[:, 0])).max() > 50


def generator():
    yield TABLE


TENSORS = torch.utils.data.TensorDataset(torch.zeros(10, 3))


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        return iter(TABLE)


LAZY = dask.array.from_array(TABLE, chunks=(4, 3))
MEANT = {"dtype": np.float64, "meta": np.empty((0, 3))}  # what a Dask array says that its blocks are
JAGGED = [torch.zeros(2, 3), torch.zeros(3, 3)]

REFUSED = {
    "iterator": (generator(), TypeError, ("unbraid.Blocks",)),
    "number": (3, TypeError, ("X", "int", "unbraid.Blocks")),
    "nothing": ([], ValueError, ("X", "list")),
    "no blocks": (ub.Blocks([]), ValueError, ("X", "block")),
    "a path": ("photos/a.npy", TypeError, ("'photos/a.npy'", "unbraid.datasets.open")),
    "a dict": ({"a": TABLE}, TypeError, ("X", "dict", "unbraid.Blocks")),
    "records": (np.zeros(3, dtype=[("a", float)]), ValueError, ("X", "[('a', '<f8')]")),
    "blocks as a list": ([TABLE, TABLE[:5, :2]], ValueError, ((5, 2), (10, 3), "unbraid.Blocks")),
    "bytes and floats": ([BYTES[0], FLOATS[0]], ValueError, ("list", "float32", "uint8")),
    "stream": (Stream(), TypeError, ("Stream", "unbraid.Blocks")),
    "sampled": (
        torch.utils.data.DataLoader(TENSORS, sampler=torch.utils.data.SubsetRandomSampler([3])),
        TypeError,
        ("DataLoader", "sampler"),
    ),
    "collated": (
        torch.utils.data.DataLoader(TENSORS, collate_fn=lambda batch: batch),
        TypeError,
        ("DataLoader", "collate_fn"),
    ),
    "large": (np.array([[1e300, 1.0]]), ValueError, ("1e+300", "float64")),
    "large float32": (np.full((4, 3), 1e30, np.float32), ValueError, ("1e+30", "float32", "X / np.abs(X).max()")),
    "sparse": (sp.csr_array(np.eye(3)), TypeError, ("X.toarray()",)),
    "complex": (np.eye(3) * 1j, ValueError, ("X", "complex")),
    "text": (np.array([["a", "b"]]), ValueError, ("X", "<U1")),
    "dates": (np.zeros((2, 2), "M8[s]"), ValueError, ("X", "datetime64[s]")),
    "objects": (np.array([[1, "a"]], dtype=object), ValueError, ("X", "'a'")),
    "missing object": (np.array([[1, None]], dtype=object), ValueError, ("NaN", 1)),
    "flat": (np.arange(3.0), ValueError, ("2D array", "1D array", "X.reshape(-1, 1)")),
    "no features": (np.zeros((3, 0)), ValueError, ("0 feature", (3, 0))),
    "no rows": (np.zeros((0, 3)), ValueError, ("0 sample", (0, 3))),
    "NaN": (np.array([[1.0, np.nan], [1, 1]]), ValueError, ("NaN", 1, 2)),
    "infinity": (np.array([[1.0, -np.inf]]), ValueError, ("NaN", 1)),
    "gaps in a frame": (
        pandas.DataFrame({"a": pandas.array([1, None], dtype="Int64")}),
        (TypeError, ValueError),
        ("X",),
    ),
    "masked": (np.ma.masked_less(TABLE, 0), ValueError, ("X", np.ma.masked_less(TABLE, 0).mask.sum(), "masked")),
    "unknown length": (
        dask.array.from_array(TABLE)[dask.array.from_array(TABLE[:, 0]) > 0],
        ValueError,
        ("(nan, 3)", "X.compute_chunk_sizes()"),
    ),
    "blocks of two shapes": (
        ub.Blocks([TABLE, TABLE[:, :2]]),
        ValueError,
        ((2,), (3,)),
    ),
    "lazily masked": (dask.array.ma.masked_less(LAZY, 0), ValueError, ("X", "masked")),
    "lazily sparse": (LAZY.map_blocks(sp.csr_array, **MEANT), TypeError, ("X.toarray()",)),
    "lazily complex": (LAZY.map_blocks(lambda x: x * 1j, **MEANT), ValueError, ("float64", "complex128")),
    "lazy dates": (LAZY.map_blocks(lambda x: x.astype("M8[s]"), **MEANT), ValueError, ("float64", "datetime64[s]")),
    "dates of polars": (
        polars.DataFrame({"a": [1.0, 2.0], "day": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]}),
        ValueError,
        ("'day'", "time="),
    ),
    "huge integers": (np.array([[1, 10**400]], dtype=object), ValueError, ("X", "float64")),
    "a conjugate tensor": (torch.tensor([[1j, 2]]).conj(), ValueError, ("X", "complex")),
    "a meta tensor": (torch.empty(3, 2, device="meta"), TypeError, ("torch", (3, 2), "meta")),
    "a nested tensor": (torch.nested.nested_tensor(JAGGED, layout=torch.jagged), TypeError, ("torch", "torch.jagged")),
    "a sparse tensor": (torch.eye(3).to_sparse(), TypeError, ("torch", "X.to_dense()")),
    "empty blocks only": (ub.Blocks([TABLE[:0]]), ValueError, ("X", "block")),
    "blocks of numbers": (ub.Blocks([TABLE, np.float64(3)]), ValueError, ((), (3,))),
    "blocks of two units": (ub.Blocks([BYTES, FLOATS]), ValueError, ("block", "float32", "uint8")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused(case):
    X, error, words = REFUSED[case]
    with pytest.raises(error, match=facts(*words)):
        Rows(X).array()


@pytest.mark.parametrize("case", [name for name in REFUSED if name.startswith("laz")])
def test_what_cannot_be_read_is_refused_where_its_blocks_are(case):
    X, error, words = REFUSED[case]
    with pytest.raises(error, match=facts(*words)):
        Rows(X).sample(5, np.random.RandomState(0))


def test_tensors_that_are_negated_in_name_only():
    X = torch.tensor([[1 + 2j, 3 - 1j]]).conj().imag
    assert X.is_neg()
    np.testing.assert_array_equal(Rows(X).array(), [[-2, 1]])
    known = ub.Observations(TABLE[:2], labels=X[0])
    np.testing.assert_array_equal(known.labels, [-2, 1])


def test_columns_may_have_any_name():
    """A frame has its columns as attributes, so these once made it a sparse matrix, a tensor and a data set."""
    for names in (["tocsr", "map_blocks", "dask"], ["detach", "cpu", "x"], ["sample", "factor_names", "stored"]):
        frame = pandas.DataFrame(TABLE, columns=names)
        np.testing.assert_array_equal(Rows(frame).array(), TABLE)
        model = ub.PCAICA(2, random_state=0).fit(frame)
        np.testing.assert_array_equal(model.transform(frame), ub.PCAICA(2, random_state=0).fit_transform(TABLE))


def test_empty_blocks_are_passed_over():
    rows = Rows(ub.Blocks([TABLE[:0], TABLE[:4], TABLE[4:4], TABLE[4:]]))
    np.testing.assert_array_equal(rows.array(), TABLE)
    assert rows.fingerprint() == Rows(TABLE).fingerprint()
    model = ub.PCAICA(2, random_state=0).fit(TABLE)
    lazy = dask.array.from_array(TABLE, chunks=((4, 0, 6), 3))
    np.testing.assert_allclose(model.transform(lazy).compute(), model.transform(TABLE), atol=1e-12)


def test_a_loader_that_shuffles_has_no_order_for_labels():
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.from_numpy(TABLE)), shuffle=True)
    np.testing.assert_array_equal(Rows(loader).array(), TABLE)
    with pytest.raises(TypeError, match=facts("DataLoader", "labels", "X.dataset")):
        ub.Observations(loader, labels=np.arange(10))
    with pytest.raises(TypeError, match=facts("DataLoader", "labels", "X.dataset")):
        ub.GIN(max_steps=1).fit(loader, np.arange(10) % 2)


def test_large_values_whose_squares_fit():
    X = np.full((4, 3), 1e15, np.float32)
    np.testing.assert_array_equal(Rows(X).array(), X)


def test_masked_arrays_without_a_masked_value_are_arrays():
    np.testing.assert_array_equal(Rows(np.ma.masked_less(TABLE, -1e9)).array(), TABLE)


def test_new_rows_must_have_the_shape_of_those_that_were_fitted():
    model = Exemplary(random_state=0).fit(BYTES)
    with pytest.raises(ValueError, match=facts(3, 20, "Exemplary")):
        model.transform(TABLE)
    with pytest.raises(ValueError, match=facts((5, 4), (4, 5), "Exemplary")):
        model.transform(BYTES.transpose(0, 2, 1))
    with pytest.raises(ValueError, match=facts((1, 4, 5), 2)):
        clone(model).fit(BYTES[:1])


def test_a_sample_is_fair():
    """Each of 40 rows, in blocks of 7, is in a sample of 10 with probability 1/4: 2000 draws, five standard errors."""
    X = np.arange(40.0)[:, None]
    rng = np.random.RandomState(0)
    blocks = ub.Blocks([X[i : i + 7] for i in range(0, 40, 7)])
    counts = sum(np.bincount(Rows(blocks).sample(10, rng)[:, 0].astype(int), minlength=40) for _ in range(2000))
    assert np.abs(counts - 500).max() < 5 * np.sqrt(2000 * 0.25 * 0.75)
