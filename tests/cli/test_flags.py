"""One message, two readers: the argument from Python, the flag on the command line."""

import inspect

import numpy as np
import pytest

import unbraid as ub
from unbraid.cli.fit import fit
from unbraid.cli.options import FLAGS, in_flags

from .command_line import run


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("max_steps=3 is low", "--steps 3 is low"),
        ("give skip_unreadable=True, or resize=(64, 48)", "give --skip-unreadable, or --resize 64x48"),
        ("Give checkpoint=... or raise max_seconds.", "Give checkpoint=... or raise --max-seconds."),
        ("an array by key='X'", "an array by --key X"),
        ("no file at /data/n_factors/x.npy", "no file at /data/n_factors/x.npy"),
        ("the key of the device", "the key of the device"),
        ("there is no 'n_factors.npy'", "there is no 'n_factors.npy'"),
        (
            "Raise tangent_weight, or try another n_neighbors.",
            "Raise --set tangent_weight=..., or try another --neighbors.",
        ),
        ("bring evidence by rotation=, such as labels", "bring evidence by --set rotation=..., such as labels"),
        ("rotation='pairs' needs pairs", "rotation='pairs' needs pairs"),
        ("n_factors is given by --set too", "n_factors is given by --set too"),
    ],
)
def test_arguments_become_flags_and_other_words_stay(message, told):
    assert in_flags(message) == told


def test_every_flag_is_one_of_the_command():
    options = {f"--{name.replace('_', '-')}" for name in inspect.signature(fit).parameters}
    assert set(FLAGS.values()) <= options


def test_the_same_mistake_from_python_and_from_the_shell(monkeypatch, capsys, tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 4))
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(ValueError, match="n_factors") as error:
        ub.PCAICA(n_factors=9, random_state=0).fit(X)
    monkeypatch.chdir(tmp_path)
    result = run(monkeypatch, capsys, "fit", "x.npy", "--method", "pca-ica", "--factors", 9)
    assert result.code == 2
    assert "--factors" in result.err
    assert "n_factors" not in result.err
    assert result.err.endswith(f"unbraid: {in_flags(str(error.value))}\n")
