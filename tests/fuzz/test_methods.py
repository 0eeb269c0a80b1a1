"""Every method on odd rows: finite codes, one row each, or a sentence; never a foreign error."""

import dask.array
import h5py
import numpy as np
import pandas
import pytest
import torch

import unbraid as ub
from tests.fuzz.test_fuzz import check_sentence
from unbraid.methods import METHODS
from unbraid.testing.data import known_data, needed_evidence

TABLE, LABELS = known_data().table, known_data().labels
QUICK = {"max_steps": 2, "n_init": 1, "random_state": 0, "progress": False, "batch_size": 20}


def odd_rows():
    """The same table at other scales, offsets and types, with constants, repeats and what is missing, by name."""
    rng = np.random.default_rng(0)
    for power in (-310, -200, -100, -30, -12, 12, 30, 100, 200):
        yield f"scale 1e{power}", TABLE * 10.0**power
    for power in (3, 6, 9, 12, 15, 18):
        yield f"offset 1e{power}", TABLE + 10.0**power
    yield "one column offset", TABLE + [0, 1e12, 0, 0]
    yield "one column scaled", TABLE * [1, 1e100, 1, 1]
    yield "one column tiny", TABLE * [1, 1e-100, 1, 1]
    yield "constant", np.ones((80, 4))
    yield "constant columns", np.insert(TABLE, 1, 7.0, axis=1)
    yield "half the rows zero", np.where(np.arange(80)[:, None] % 2, TABLE, 0)
    yield "two values", (TABLE > 0.3).astype(float)
    yield "repeated", np.tile(TABLE[:8], (10, 1))
    yield "repeated columns", np.repeat(TABLE, 3, axis=1)
    yield "one feature", TABLE[:, :1]
    yield "wide", rng.normal(size=(80, 200))
    yield "nanoseconds", (TABLE * 1000).astype(np.int64) + 1_700_000_000_000_000_000
    yield "uint64", (TABLE * 1000).astype(np.uint64) + np.uint64(2**63)
    yield "float16", TABLE.astype(np.float16)
    yield "huge integers", np.full((80, 4), 10**400, dtype=object)
    yield "large integers", (TABLE * 100).astype(int).astype(object) + 10**30
    yield "dates", (TABLE * 1e9).astype("M8[s]")
    yield "gaps", np.where(TABLE > 0.9, np.nan, TABLE)
    yield "masked", dask.array.ma.masked_greater(dask.array.from_array(TABLE, chunks=(30, 4)), 0.9)
    yield "lazy", dask.array.from_array(TABLE, chunks=((30, 0, 50), 4))
    yield "negative", torch.complex(torch.zeros(80, 4).double(), torch.from_numpy(TABLE)).conj().imag
    yield "meta", torch.empty(80, 4, device="meta")
    yield "blocks", ub.Blocks([TABLE[:0], TABLE[:30], TABLE[30:]])
    yield "frame", pandas.DataFrame(TABLE, columns=["tocsr", "detach", "cpu", "sample"])
    yield "infinite", np.where(TABLE > 0.99, np.inf, TABLE)


def made(method):
    """A model of a method that is fitted in a moment."""
    cls = METHODS[method].load()
    given = {name: value for name, value in QUICK.items() if name in cls().get_params()}
    if method == "self-supervised-gin":
        given["augment"] = lambda x, rng: x + 0.1 * rng.normal(size=x.shape)
    return cls(**given)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.UnbraidWarning")
@pytest.mark.parametrize("method", METHODS)
def test_methods_on_odd_rows(method, inputs, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["X"] = TABLE
        for name, rows in (*odd_rows(), ("HDF5", file["X"])):
            inputs()
            model = made(method)
            evidence = {} if method == "self-supervised-gin" else needed_evidence(model, 80)
            try:
                codes = model.fit(rows, LABELS, **evidence).transform(rows)
            except (ValueError, TypeError) as error:
                check_sentence(error, (method, name))
                inputs.refused()
                continue
            for part in codes if isinstance(codes, tuple) else (np.asarray(codes),):
                assert len(part) == 80, (method, name)
                assert np.isfinite(part).all(), (method, name)
