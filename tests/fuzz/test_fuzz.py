"""Odd and damaged inputs: each gives a right answer or one sentence, never a foreign error or a wrong answer.

Every test counts its inputs, and the end of the run says how many there were, and how many were refused.
"""

import io
import json
import zipfile
from functools import cache

import h5py
import numpy as np
import pandas
import pytest
import tifffile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

import unbraid as ub
from tests.cli.command_line import run
from tests.facts import facts
from unbraid.saving.persistence import NotARunError

X = np.random.default_rng(0).integers(0, 256, (12, 8, 8), dtype=np.uint8)
TABLE = X[:, 0].astype(float)
MUTATIONS = 45  # of every kind of file
SETTINGS = settings(
    max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


def check_sentence(error, case, *words):
    """Words for people, and among them those that are given: not the bare text of a foreign error."""
    text = str(error).strip()
    assert len(text) > 25, (case, text)
    assert all(word in text for word in words), (case, text)


@cache
def original(ending):
    """The bytes of a good file."""
    data = io.BytesIO()
    if ending == ".npy":
        np.save(data, X)
    elif ending == ".npz":
        np.savez(data, X=X)
    elif ending == ".h5":
        with h5py.File(data, "w") as file:
            file["X"] = X
    elif ending == ".csv":
        pandas.DataFrame(TABLE).add_prefix("c").to_csv(data, index=False)
    elif ending == ".parquet":
        pandas.DataFrame(TABLE).add_prefix("c").to_parquet(data)
    elif ending == ".tif":
        tifffile.imwrite(data, X)
    elif ending == ".png":
        Image.fromarray(X[0]).save(data, "png")
    elif ending == ".gif":
        frames = [Image.fromarray(x) for x in X]
        frames[0].save(data, "gif", save_all=True, append_images=frames[1:])
    return data.getvalue()


def mutated(data, rng):
    """Cut, overwritten, repeated or shuffled bytes."""
    data = bytearray(data)
    kind = rng.integers(5)
    if kind == 0:
        return bytes(data[: rng.integers(1, len(data))])
    if kind == 1:
        for place in rng.integers(0, len(data), rng.integers(1, 8)):
            data[place] = rng.integers(256)
        return bytes(data)
    if kind == 2:  # in the header, where it matters most
        data[rng.integers(0, min(200, len(data)))] = rng.integers(256)
        return bytes(data)
    start = rng.integers(0, len(data))
    piece = data[start : start + rng.integers(1, 50)]
    return bytes(data[:start] + piece + piece + data[start:]) if kind == 3 else bytes(data[:start] + data[start + 9 :])


@pytest.mark.filterwarnings("ignore")  # decoders warn of what they skip
@pytest.mark.parametrize("ending", [".npy", ".npz", ".h5", ".csv", ".parquet", ".tif", ".png", ".gif"])
def test_damaged_files(tmp_path, ending, inputs):
    """A file that is damaged is refused by a sentence, or read as an array of the shape that it announces."""
    rng = np.random.default_rng(1)
    for number in range(MUTATIONS):
        inputs()
        path = tmp_path / f"{number}{ending}"
        path.write_bytes(mutated(original(ending), rng))
        try:
            source = ub.datasets.open(path)
            values = source[:]
        except (ValueError, FileNotFoundError) as error:
            check_sentence(error, number, path.name)
            inputs.refused()
            continue
        assert values.shape == source.shape, number
        assert values.dtype == source.dtype, number


def test_checked_formats_never_read_other_numbers(tmp_path, inputs):
    """Where the format has a checksum (compressed npz), what is read is what was written."""
    data = io.BytesIO()
    np.savez_compressed(data, X=X)
    rng = np.random.default_rng(2)
    read = 0
    for number in range(MUTATIONS):
        inputs()
        path = tmp_path / f"{number}.npz"
        path.write_bytes(mutated(data.getvalue(), rng))
        try:
            values = ub.datasets.open(path)[:]
        except ValueError as error:
            check_sentence(error, number)
            inputs.refused()
            continue
        read += 1
        np.testing.assert_array_equal(values, X, err_msg=str(number))
    assert read < MUTATIONS, "some of them are damaged"


@cache
def saved_run():
    return ub.PCAICA(2, random_state=0).fit(TABLE)


def _broken_json(value, rng):
    """The same configuration with one value, somewhere, replaced."""
    odd = [None, [], {}, -1, "x", 1e308, [[[]]], {"array": "x"}, {"object": "os:system", "state": {}}, True]
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = list(value)[rng.integers(len(value))]
        if rng.random() < 0.15:
            return {k: v for k, v in value.items() if k != key}
        return value | {key: _broken_json(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        i = rng.integers(len(value))
        return [*value[:i], _broken_json(value[i], rng), *value[i + 1 :]]
    return odd[rng.integers(len(odd))]


def test_damaged_runs(tmp_path, inputs):
    """A run whose configuration was changed is refused, or is the run that was saved."""
    saved_run().save(tmp_path / "run")
    codes = saved_run().transform(TABLE)
    config = tmp_path / "run" / "config.json"
    good = json.loads(config.read_text())
    rng = np.random.default_rng(3)
    for number in range(100):
        inputs()
        config.write_text(json.dumps(_broken_json(good, rng)))
        try:
            model = ub.load(tmp_path / "run")
        except NotARunError as error:
            check_sentence(error, number)
            inputs.refused()
            continue
        np.testing.assert_array_equal(model.transform(TABLE), codes, err_msg=str(number))


def test_damaged_arrays_of_runs(tmp_path, inputs):
    saved_run().save(tmp_path / "run")
    (arrays,) = (tmp_path / "run").glob("*.safetensors")
    good, rng = arrays.read_bytes(), np.random.default_rng(4)
    for number in range(100):
        inputs()
        bad = mutated(good, rng)
        arrays.write_bytes(bad)
        try:
            ub.load(tmp_path / "run")
        except NotARunError as error:
            check_sentence(error, number)
            inputs.refused()
            continue
        assert bad == good, f"{number}: damaged arrays were loaded"


ODD_NUMBERS = st.one_of(
    st.floats(width=64),
    st.sampled_from([0.0, -0.0, 1e300, -1e300, 1e-300, 5e-324, np.inf, np.nan, 1e30, 2.0**53]),
)


@pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.UnbraidWarning")
@settings(SETTINGS, max_examples=60)
@given(values=hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=3, max_side=12), elements=ODD_NUMBERS))
def test_estimators_on_odd_arrays(inputs, values):
    """Finite codes, one row each, or a sentence."""
    inputs()
    try:
        codes = ub.PCAICA(n_factors=1, random_state=0).fit_transform(values)
    except (ValueError, TypeError) as error:
        check_sentence(error, values)
        inputs.refused()
        return
    assert codes.shape == (len(values), 1)
    assert np.isfinite(codes).all()


@SETTINGS
@given(
    pair=st.integers(2, 30).flatmap(
        lambda n: st.tuples(
            hnp.arrays(np.float64, (n, 2), elements=ODD_NUMBERS), hnp.arrays(np.float64, (n, 3), elements=ODD_NUMBERS)
        )
    )
)
def test_metrics_on_odd_arrays(inputs, pair):
    factors, codes = pair
    for name in ("mcc", "mig", "sap"):
        inputs()
        try:
            value = float(getattr(ub.metrics, name)(factors, codes))
        except (ValueError, TypeError) as error:
            check_sentence(error, name)
            inputs.refused()
            continue
        assert 0 <= value <= 1 + 1e-9, (name, value)


@SETTINGS
@given(scale=st.integers(-130, 130), shift=st.floats(-1, 1))
def test_scores_do_not_depend_on_the_scale(inputs, scale, shift):
    """Codes of any size that can be squared score as they do at size one."""
    inputs()
    rng = np.random.default_rng(0)
    factors = rng.uniform(size=(60, 2))
    codes = factors @ [[1, 0.3], [0.2, 1]] + shift
    assert ub.metrics.mcc(factors, codes * 10.0**scale) == pytest.approx(ub.metrics.mcc(factors, codes), abs=1e-6)


ARGUMENTS = st.lists(
    st.sampled_from(
        ["--factors", "0", "auto", "-1", "two", "--method", "pca-ica", "magic", "--key", "X", "--points", "--json"]
        + [
            "--columns",
            "a,b",
            "--divide",
            "nan",
            "--labels",
            "--set",
            "tol",
            "tol=1",
            "--resize",
            "8",
            "0x0",
            "--quiet",
        ]
    ),
    max_size=5,
)


@pytest.mark.slow
def test_command_line(monkeypatch, capsys, tmp_path, inputs):
    """Any options: a run, or exit code 2 and a sentence; never a traceback."""
    np.save(tmp_path / "x.npy", TABLE)
    monkeypatch.chdir(tmp_path)

    @settings(SETTINGS, max_examples=40)
    @given(ARGUMENTS)
    def check(arguments):
        inputs()
        result = run(monkeypatch, capsys, "fit", "x.npy", "--method", "pca-ica", *arguments)
        assert result.code in (0, 2), (arguments, result.err)
        if result.code:
            inputs.refused()
        assert "Traceback" not in result.err + result.out, arguments
        assert result.code == 0 or len(result.err) > 20, arguments

    check()


def test_a_zip_bomb_of_a_header_is_refused(tmp_path, inputs):
    """A header that announces more than any disk holds."""
    inputs()
    inputs.refused()
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999, 9999999999), }"
    data = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + head.ljust(117) + b"\n"
    (tmp_path / "a.npy").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", data)
    for name in ("a.npy", "a.npz"):
        with pytest.raises(ValueError, match=facts(name, "bytes")):
            ub.datasets.open(tmp_path / name)
