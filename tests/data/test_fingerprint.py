"""The fingerprint tells data apart, and nothing else: not their layout in memory, nor how they were handed over."""

import numpy as np
import pytest

from unbraid.data.rows import Rows
from unbraid.data.sources import Blocks


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(500, 6)).astype(np.float32)


def test_one_number_of_an_array_in_memory_is_seen(X):
    other = X.copy()
    other[123, 4] += 1e-3
    assert Rows(other).fingerprint() != Rows(X).fingerprint()


@pytest.mark.parametrize("change", [lambda X: X[::-1], lambda X: X[:-1], lambda X: X.astype(np.float64)])
def test_order_number_and_type_of_the_rows_are_seen(X, change):
    assert Rows(change(X)).fingerprint() != Rows(X).fingerprint()


def test_layout_and_blocks_are_not_seen(X):
    forms = [np.asfortranarray(X), X.copy(), Blocks([X[:200], X[200:]]), lambda: iter([X[:1], X[1:]])]
    assert {Rows(form).fingerprint() for form in forms} == {Rows(X).fingerprint()}


def test_a_memory_map_has_the_same_one_each_time_and_sees_its_ends(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    first = Rows(np.load(tmp_path / "x.npy", mmap_mode="r")).fingerprint()
    assert Rows(np.load(tmp_path / "x.npy", mmap_mode="r")).fingerprint() == first
    X[-1] += 1
    np.save(tmp_path / "x.npy", X)
    assert Rows(np.load(tmp_path / "x.npy", mmap_mode="r")).fingerprint() != first


def test_numbers_held_as_objects_have_one_too(X):
    objects = X.astype(object)
    assert Rows(objects).fingerprint() == Rows(objects.copy()).fingerprint()
