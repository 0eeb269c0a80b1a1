"""What is held out never leaks, and shuffles keep what they should."""

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.nulls.kinds import BLOCKS, Labels, Pairs, Sets, Time, kind_of

N = 180
X = np.arange(N, dtype=float)[:, None]


def rng(seed=0):
    return np.random.default_rng(seed)


def test_a_third_of_each_class_is_held_out():
    known = ub.Observations(X, labels=np.repeat(["a", "b", "c"], [120, 57, 3]))
    held = known.labels[Labels(known).held_out(known, rng())]
    assert {name: int((held == name).sum()) for name in "abc"} == {"a": 40, "b": 19, "c": 1}


def test_time_is_held_out_in_blocks_whatever_the_order_of_rows():
    time = rng().permutation(N)
    held = np.sort(time[Time().held_out(ub.Observations(X, time=time), rng())])
    assert len(held) == N // 3
    assert len(set(held // (N // BLOCKS))) == BLOCKS // 3


def test_no_held_out_row_is_in_a_pair_that_is_fitted_on():
    pairs = rng().permutation(N)[:120].reshape(-1, 2)
    known = ub.Observations(X, pairs=pairs)
    held = Pairs().held_out(known, rng())
    parts = known.subset(held), known.subset(~held)
    assert N // 3 - 1 <= held.sum() <= N // 3 + 1
    assert len(parts[0].pairs) + len(parts[1].pairs) >= len(pairs) - 1
    rows = [set(part.X[part.pairs].ravel()) for part in parts]
    assert not rows[0] & rows[1]


def test_a_chain_of_pairs_is_cut_where_few_are_lost():
    chain = np.c_[: N - 1, 1:N]
    known = ub.Observations(X, pairs=rng().permutation(chain))
    held = Pairs().held_out(known, rng())
    assert len(known.subset(held).pairs) + len(known.subset(~held).pairs) >= len(chain) - 2


def test_sets_are_held_out_whole():
    sets = rng().permutation(np.repeat(np.arange(N // 3), 3))
    held = Sets().held_out(ub.Observations(X, sets=sets), rng())
    assert not set(sets[held]) & set(sets[~held])
    assert held.sum() == N // 3


def test_labels_are_permuted_within_covariates_and_known_rows():
    batch, labels = np.arange(N) % 4, rng().normal(size=N)
    labels[::5] = np.nan
    known = ub.Observations(X, labels=labels, covariates=batch)
    moved = Labels(known).shuffled(known, rng()).labels
    assert (moved != labels)[np.isfinite(labels)].mean() > 0.9
    np.testing.assert_array_equal(np.isnan(moved), np.isnan(labels))
    for name in range(4):
        np.testing.assert_array_equal(np.sort(moved[batch == name]), np.sort(labels[batch == name]))


def test_a_continuous_covariate_is_cut_into_fifths():
    known = ub.Observations(X, labels=np.arange(N) % 2, covariates=np.arange(N) / 7)
    numbered = ub.Observations(X, labels=np.arange(N, dtype=float), covariates=np.arange(N) / 7)
    assert (Labels(known).shuffled(known, rng()).labels != known.labels).any()
    moved = Labels(numbered).shuffled(numbered, rng()).labels
    np.testing.assert_array_equal(moved // (N // 5), np.arange(N) // (N // 5))


def test_labels_beside_time_are_shifted_in_a_circle():
    time, values = rng().permutation(N), np.arange(N, dtype=float)
    known = ub.Observations(X, labels=values[time], time=time)
    moved = Labels(known).shuffled(known, rng()).labels[np.argsort(time)]
    assert set(np.diff(moved)) == {1, 1 - N}


def test_partners_sets_and_times_are_permuted():
    known = ub.Observations(
        X, pairs=rng(1).permutation(N).reshape(-1, 2), sets=np.arange(N) // 3, time=np.arange(N) / 10
    )
    pairs = Pairs().shuffled(known, rng()).pairs
    np.testing.assert_array_equal(pairs[:, 0], known.pairs[:, 0])
    assert set(pairs[:, 1]) == set(known.pairs[:, 1])
    for kind in (Sets(), Time()):
        before, after = getattr(known, kind.name), getattr(kind.shuffled(known, rng()), kind.name)
        assert (before != after).any()
        np.testing.assert_array_equal(np.sort(before), np.sort(after))


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (np.arange(N) % 3, True),
        (np.arange(N) % 3 / 1.0, True),
        (np.arange(N).astype(str), True),
        (np.arange(N), False),
        (np.arange(N) / 7, False),
        (np.eye(3)[np.arange(N) % 3], False),
        (np.where(np.arange(N) < 20, 1.0, np.nan), False),
    ],
)
def test_which_labels_are_classes(labels, classes):
    assert Labels(ub.Observations(X, labels=labels)).classes == classes


def test_many_rows_are_thinned_and_labelled_ones_kept():
    labels = np.full((N, 2), np.nan)
    labels[::9] = 1.0
    some = ub.Observations(X, labels=labels)
    assert np.isfinite(Labels(some).thinned(some, 60, rng()).labels[:, 0]).sum() == N // 9
    timed = ub.Observations(X, time=np.arange(N)[::-1])
    np.testing.assert_array_equal(np.diff(Time().thinned(timed, 60, rng()).time), -1)
    classes = ub.Observations(X, labels=np.arange(N) % 3)
    assert np.bincount(Labels(classes).thinned(classes, 60, rng()).labels).tolist() == [20, 20, 20]


def test_evidence_that_is_not_there_is_asked_for():
    with pytest.raises(ValueError, match=facts("pairs", "structure")):
        kind_of(("pairs",), ub.Observations(X, time=np.arange(N)))
