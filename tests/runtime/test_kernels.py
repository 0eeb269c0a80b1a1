"""Kernels say that they are built, are kept where that is possible, and bring in nothing that takes seconds."""

import os
import subprocess
import sys

import pytest
from numba.core.dispatcher import Dispatcher

from unbraid.runtime.kernels import njit
from unbraid.runtime.progress import progress_style


def triple(x):
    return 3 * x


@pytest.fixture
def elsewhere(monkeypatch):
    """The function as if of a module of its own, so that nothing was told of it before."""

    def renamed(name):
        monkeypatch.setattr(triple, "__module__", name)
        return triple

    return renamed


def without_cache(self):
    raise RuntimeError("cannot cache function 'triple': no locator available for file 'triple.py'")


def test_a_line_tells_that_kernels_are_built_and_only_once(elsewhere, monkeypatch, capsys):
    monkeypatch.setattr(Dispatcher, "enable_caching", lambda self: None)
    kernel = njit()(elsewhere("told.once"))
    with progress_style("lines"):
        assert kernel(2) == 6
        assert kernel(2.5) == 7.5
    said = capsys.readouterr().err
    assert (said.count("\n"), said.count("told.once")) == (1, 1)


def test_nothing_is_told_where_progress_is_off(elsewhere, monkeypatch, capsys):
    monkeypatch.setattr(Dispatcher, "enable_caching", lambda self: None)
    with progress_style("off"):
        assert njit()(elsewhere("told.never"))(2) == 6
    assert capsys.readouterr().err == ""


def test_an_install_that_cannot_be_written_works_and_names_the_remedy(elsewhere, monkeypatch, capsys):
    monkeypatch.setattr("unbraid.runtime.kernels._notice.not_kept", False)
    monkeypatch.setattr(Dispatcher, "enable_caching", without_cache)
    kernel = njit()(elsewhere("told.read_only"))
    with progress_style("lines"):
        assert kernel(2) == 6
    assert "NUMBA_CACHE_DIR" in capsys.readouterr().err


def test_other_errors_of_the_cache_are_not_swallowed(elsewhere, monkeypatch):
    def broken(self):
        raise RuntimeError("something else")

    monkeypatch.setattr(Dispatcher, "enable_caching", broken)
    with pytest.raises(RuntimeError, match="something else"):
        njit()(elsewhere("told.broken"))


FIRST_USE = """
import numpy as np
from numba.core import event
from unbraid.spectral.alignment import alignment
from unbraid.spectral.local_frames import tangent_bases

class Names(event.Listener):
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        print(function.__module__, function.__name__)

    def on_end(self, event):
        pass

event.register("numba:compile", Names())
X = np.random.default_rng(0).normal(size=(40, 5))
near = np.argsort(((X[:, None] - X) ** 2).sum(-1), axis=1)[:, :9]
for hessian in (0, 1.0):
    found = alignment(X, near, 2, hessian=hessian)
found.band(), found.tocsc(), found @ X
tangent_bases(X, near, 2)
tangent_bases(X, near[:, :4], 2)
"""


@pytest.mark.slow
def test_first_use_of_the_local_step_builds_few_kernels_and_nothing_of_numpy(tmp_path):
    """Slices, allocations and constant integers in kernels once took two thirds of the first fit."""
    built = subprocess.run(
        [sys.executable, "-c", FIRST_USE],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    local = ["_find_spaces", "_orthonormal_row", "_frames"]
    whole = ["_add_lower", "_block_row", "_fill_rows", "_times"]
    wanted = [f"unbraid.spectral.local_frames {x}" for x in local] + [f"unbraid.spectral.alignment {x}" for x in whole]
    assert built.stdout.split("\n")[:-1] == wanted
