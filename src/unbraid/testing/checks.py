"""The checks: functions of an unfitted estimator and of known data that raise where the contract is broken."""

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from unbraid.estimator.summary import Fact, Section, Summary
from unbraid.metrics import mcc
from unbraid.saving.encoding import parameters_of
from unbraid.saving.persistence import load
from unbraid.testing.data import Data, kinds_of, needed_evidence
from unbraid.trust.warnings import UnbraidWarning

SAME = 1e-4  # in standard deviations of a code: what the order of sums in single precision may change


class InapplicableError(Exception):
    """The check does not apply."""


def _fresh(estimator: Any, **parameters: Any) -> Any:
    """An unfitted copy with a fixed random_state and the given parameters."""
    copy = clone(estimator)
    if "random_state" in copy.get_params(deep=False):
        copy.set_params(random_state=0)
    return copy.set_params(**parameters)


def _fitted(model: Any, X: Any, data: Data, n: int | None = None) -> Any:
    """Fit with labels, which may be ignored, and with whatever else the method needs."""
    labels = data.labels[:n]
    return model.fit(X, labels, **needed_evidence(model, len(labels)))


def _needs(estimator: Any, *parameters: str) -> None:
    missing = [p for p in parameters if p not in estimator.get_params(deep=False)]
    if missing:
        raise InapplicableError(f"it has no parameter {missing[0]}")


def _codes(model: Any, X: Any) -> NDArray:
    """Codes as one table; subspaces are concatenated."""
    codes = model.transform(X)
    if isinstance(codes, tuple):
        codes = np.concatenate([np.asarray(part).reshape(len(part), -1) for part in codes], axis=1)
    codes = np.asarray(codes)
    assert codes.ndim == 2, f"codes have shape {codes.shape}; they must be (n, number of codes)"
    assert np.isfinite(codes).all(), "codes are not finite"
    return codes


def _assert_same(codes: NDArray, known: NDArray, words: str) -> None:
    assert codes.shape == known.shape, f"{words}: shape {codes.shape}, not {known.shape}"
    off = np.abs(codes - known).max() / max(float(known.std(axis=0).max()), 1e-300)
    assert off <= SAME, f"{words}: codes differ by {off:.2g} standard deviations"


@contextmanager
def _refused(words: str) -> Iterator[None]:
    """The block must raise a ValueError."""
    try:
        yield
    except ValueError:
        return
    raise AssertionError(f"{words} is not refused")


def check_parameters(estimator: Any, data: Data) -> None:
    """``__init__`` only stores; parameters can be read, set and cloned, and ``fit`` leaves them alone."""
    cls = type(estimator)
    given = {name: object() for name, p in parameters_of(cls).items() if p.kind is not p.VAR_KEYWORD}
    made = cls(**given)
    for name, value in given.items():
        assert getattr(made, name) is value, f"__init__ does not store {name} unchanged"
    added = set(vars(made)) - {name for parent in cls.__mro__ for name in parameters_of(parent)}
    assert not added, f"__init__ sets {', '.join(sorted(added))}, which are not parameters"
    copy = _fresh(estimator)
    before = copy.get_params(deep=False)
    assert set(before) == set(given), f"get_params gives {sorted(before)}, the signature {sorted(given)}"
    with _refused("an unknown parameter"):
        copy.set_params(no_such_parameter=1)
    assert _fitted(copy, data.table, data) is copy, "fit does not return self"
    after = copy.get_params(deep=False)
    changed = [name for name in before if after[name] is not before[name]]
    assert not changed, f"fit changes {', '.join(changed)}"


def check_inputs(estimator: Any, data: Data) -> None:
    """Every kind of input gives the same codes, in ``fit`` and in ``transform``."""
    known = _fitted(_fresh(estimator), data.table, data)
    codes = _codes(known, data.table)
    with TemporaryDirectory() as folder, kinds_of(data.table, Path(folder)) as kinds:
        for kind, X in kinds.items():
            _assert_same(_codes(known, X), codes, f"transform of {kind}")
            try:
                model = _fitted(_fresh(estimator), X, data)
            except TypeError:
                if "blocks" in kind:
                    continue  # a method that looks rows up by number cannot read them in a stream
                raise
            _assert_same(_codes(model, data.table), codes, f"fit on {kind}")


def check_pictures(estimator: Any, data: Data) -> None:
    """uint8 pictures are read in [0, 1] and decoded to [0, 1]; floats in [0, 1] are the same, in 0..255 refused."""
    model = _fitted(_fresh(estimator), data.pictures, data)
    codes = _codes(model, data.pictures)
    _assert_same(_codes(model, data.pictures / np.float32(255)), codes, "floats in [0, 1]")
    with _refused("a float picture in 0..255 after uint8 ones"):
        model.transform(data.pictures.astype(np.float32))
    if hasattr(model, "inverse_transform"):
        back = np.asarray(model.inverse_transform(codes))
        assert back.shape == data.pictures.shape, f"decoded pictures have shape {back.shape}"
        assert back.min() >= 0, f"decoded pictures reach down to {back.min():g}"
        assert back.max() <= 1, f"decoded pictures reach up to {back.max():g}"


def check_row_by_row(estimator: Any, data: Data) -> None:
    """A row's code does not depend on the other rows."""
    model = _fitted(_fresh(estimator), data.table[:60], data, 60)
    new = data.table[50:]
    codes = _codes(model, new)
    _assert_same(_codes(model, new[::-1])[::-1], codes, "rows in reverse")
    _assert_same(np.concatenate([_codes(model, new[i : i + 1]) for i in range(len(new))]), codes, "one row at a time")
    _assert_same(_codes(model, np.concatenate([new, 2 * new]))[: len(new)], codes, "together with other rows")


def check_saving(estimator: Any, data: Data) -> None:
    """A saved model is restored exactly: its parameters, its codes and its decoded rows."""
    model = _fitted(_fresh(estimator), data.table, data)
    codes = _codes(model, data.table)
    with TemporaryDirectory() as folder:
        back = load(model.save(Path(folder) / "run"))
    assert type(back) is type(model), f"it is restored as a {type(back).__name__}"
    assert set(back.get_params()) == set(model.get_params()), "its parameters are not those that were saved"
    assert np.array_equal(_codes(back, data.table), codes), "the codes are not those of the saved model"
    if hasattr(model, "inverse_transform"):
        same = np.array_equal(back.inverse_transform(codes), model.inverse_transform(codes))
        assert same, "it decodes differently from the saved model"


def check_random_state(estimator: Any, data: Data) -> None:
    """int, RandomState, Generator and None are accepted, give repeatable fits (except None), and can be saved."""
    _needs(estimator, "random_state")
    for make in (lambda: 3, lambda: np.random.RandomState(3), lambda: np.random.default_rng(3), lambda: None):
        words = f"random_state={make()!r}"
        models = [_fitted(_fresh(estimator, random_state=make()), data.table, data) for _ in range(2)]
        codes = [_codes(model, data.table) for model in models]
        if make() is not None:
            assert np.array_equal(codes[0], codes[1]), f"{words}: two fits differ"
        with TemporaryDirectory() as folder:
            back = load(models[0].save(Path(folder) / "run"))
        assert np.array_equal(_codes(back, data.table), codes[0]), f"{words}: the codes change by saving"
        assert type(back.random_state) is type(models[0].random_state), f"{words} is restored as {back.random_state!r}"


def check_global_randomness(estimator: Any, data: Data) -> None:
    """The global random states of numpy and torch are neither used nor changed."""
    codes = []
    for seed in (1, 2):
        with _global_seed(seed):
            codes.append(_codes(_fitted(_fresh(estimator), data.table, data), data.table))
    assert np.array_equal(codes[0], codes[1]), "two fits with one random_state differ"


@contextmanager
def _global_seed(seed: int) -> Iterator[None]:
    """Check that the block does not use the global random states, and restore them."""
    torch = sys.modules.get("torch")
    before = np.random.get_state(), torch and torch.get_rng_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    if torch:
        torch.manual_seed(seed)
    expected = np.random.RandomState(seed).uniform(), torch and torch.get_rng_state()
    try:
        yield
        assert np.random.uniform() == expected[0], "fit draws from numpy's global random state"  # noqa: NPY002
        unused = not torch or torch.equal(torch.get_rng_state(), expected[1])
        assert unused, "fit draws from torch's global random state"
    finally:
        np.random.set_state(before[0])  # noqa: NPY002
        if torch:
            torch.set_rng_state(before[1])


def check_resume(estimator: Any, data: Data) -> None:
    """A resumed run ends where an uninterrupted one does; a checkpoint of other data or another seed is refused."""
    _needs(estimator, "checkpoint", "max_seconds")
    whole = _fitted(_fresh(estimator), data.table, data)
    with TemporaryDirectory() as folder:
        checkpoint = str(Path(folder) / "checkpoint")
        stopped = _fitted(_fresh(estimator, checkpoint=checkpoint, max_seconds=1e-9), data.table, data)
        assert stopped.n_steps_ < whole.n_steps_, f"max_seconds=1e-9 does not stop it before step {whole.n_steps_}"
        for words, X, parameters in (
            ("a checkpoint of other data", data.table + 1, {}),
            ("a checkpoint of another random_state", data.table, {"random_state": 1}),
        ):
            with _refused(words):
                _fitted(_fresh(estimator, checkpoint=checkpoint, **parameters), X, data)
        resumed = _fitted(_fresh(estimator, checkpoint=checkpoint), data.table, data)
    assert resumed.n_steps_ == whole.n_steps_, f"it ends at step {resumed.n_steps_}, not {whole.n_steps_}"
    same = np.array_equal(_codes(resumed, data.table), _codes(whole, data.table))
    assert same, "the codes of a resumed run are not those of an uninterrupted one"


def check_feature_names(estimator: Any, data: Data) -> None:
    """Names of a frame's columns are kept and compared, and ``set_output`` gives frames with names of their own."""
    if not find_spec("pandas"):
        raise InapplicableError("pandas is not installed")
    import pandas

    frame = pandas.DataFrame(data.table, columns=list("abcd"), index=np.arange(len(data.table)) + 7)
    model = _fitted(_fresh(estimator), frame, data)
    assert list(model.feature_names_in_) == list("abcd"), f"feature_names_in_ is {model.feature_names_in_}"
    with _refused("a frame with its columns in another order"):
        model.transform(frame[list("badc")])
    codes = model.transform(frame)
    out = model.set_output(transform="pandas").transform(frame)
    assert isinstance(out, pandas.DataFrame), f"set_output gives a {type(out).__name__}"
    assert list(out.columns) == list(model.get_feature_names_out()), "its columns are not get_feature_names_out()"
    assert list(out.index) == list(frame.index), "its index is not that of X"
    assert np.array_equal(out.to_numpy(), codes), "its values are not those of transform"


def check_warnings(estimator: Any, data: Data) -> None:
    """All its warnings, on good and on poor data, are of class UnbraidWarning."""
    repeated = data.table[np.arange(len(data.table)) // 2 * 2]
    constant = data.table * [1, 1, 0, 0] + [0, 0, 1, 2]
    for X in (data.table, data.noise, repeated, constant):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                _fitted(_fresh(estimator), X, data).transform(X)
            except ValueError:
                continue  # poor data may be refused
        for warning in caught:
            name = warning.category.__name__
            assert issubclass(warning.category, UnbraidWarning), (
                f"a {name}, which is not an UnbraidWarning: {warning.message}"
            )


def check_summary(estimator: Any, data: Data) -> None:
    """``summary()`` consists of plain data and states at least a title and one fact."""
    summary = _fitted(_fresh(estimator), data.table, data).summary()
    assert isinstance(summary, Summary), f"summary() gives a {type(summary).__name__}"
    assert summary.title, "it has no title"
    assert summary.facts, "it states no fact"
    for fact in summary.facts:
        assert isinstance(fact, Fact), f"a fact is a {type(fact).__name__}"
        assert all(isinstance(text, str) for text in vars(fact).values()), f"{fact} is not made of text"
    for section in summary.sections:
        assert isinstance(section, Section), f"a section is a {type(section).__name__}"
        _assert_plain(vars(section), section.title)
    _assert_plain(summary.settings, "settings")


def _assert_plain(value: Any, where: str) -> None:
    if isinstance(value, Mapping):
        for key, part in value.items():
            _assert_plain(part, f"{where}, {key}")
    elif isinstance(value, list | tuple):
        for part in value:
            _assert_plain(part, where)
    else:
        plain = value is None or isinstance(value, str | bool | int | float | np.generic | np.ndarray)
        assert plain, f"{where}: a {type(value).__name__} is not plain data"


def check_decoding(estimator: Any, data: Data) -> None:
    """Codes are decoded to rows of the shape that was fitted; codes of another width are refused."""
    if not hasattr(estimator, "inverse_transform"):
        raise InapplicableError("it does not decode")
    model = _fitted(_fresh(estimator), data.table, data)
    codes = _codes(model, data.table)
    back = np.asarray(model.inverse_transform(codes))
    assert back.shape == data.table.shape, f"decoded rows have shape {back.shape}, not {data.table.shape}"
    assert np.isfinite(back).all(), "decoded rows are not finite"
    _assert_same(np.asarray(model.inverse_transform(codes[:3])), back[:3], "three codes alone")
    with _refused("a code too many"):
        model.inverse_transform(np.concatenate([codes, codes[:, :1]], axis=1))


def check_chance(estimator: Any, data: Data) -> None:
    """On noise, codes predict unrelated factors no better than chance."""
    codes = _codes(_fitted(_fresh(estimator), data.noise, data), data.noise)
    rng = np.random.default_rng(0)
    chance = np.array([mcc(data.factors[rng.permutation(len(codes))], codes) for _ in range(50)])
    found, most = float(mcc(data.factors, codes)), float(chance.mean() + 5 * chance.std())
    assert found <= most, f"MCC {found:.3f} on noise; chance gives {chance.mean():.3f}, and at most {most:.3f}"


CHECKS: dict[str, Callable[[Any, Data], None]] = {
    name.removeprefix("check_"): check for name, check in globals().items() if name.startswith("check_")
}
