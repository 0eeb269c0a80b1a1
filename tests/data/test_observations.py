"""What is known about rows is checked against them once, cut with them, and told apart by one fingerprint."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.data.observations import observe
from unbraid.data.order import steps
from unbraid.data.rows import Rows

N = 12
X = np.random.default_rng(0).normal(size=(N, 3))
KNOWN = {
    "labels": np.arange(N) % 3,
    "pairs": np.array([[0, 1], [2, 5], [4, 11]]),
    "time": np.linspace(0, 1, N),
    "sets": np.repeat(np.arange(N // 2), 2),
    "covariates": np.arange(2.0 * N).reshape(N, 2),
}
ALSO = {"factors": np.arange(N), "names": [f"row {i}" for i in range(N)]}


def test_it_holds_what_it_is_given_and_says_so():
    known = ub.Observations(X, **KNOWN, **ALSO)
    assert known.X is X
    assert (len(known), known.shape, known.evidence) == (N, (N, 3), tuple(KNOWN))
    for name, value in (KNOWN | ALSO).items():
        np.testing.assert_array_equal(getattr(known, name), value)
        assert name in repr(known)
    assert "pairs" not in repr(ub.Observations(X))


def test_it_cannot_be_changed():
    known = ub.Observations(X, **KNOWN)
    with pytest.raises(dataclasses.FrozenInstanceError):
        known.labels = None
    with pytest.raises(ValueError, match="read-only"):
        known.labels[0] = 7
    assert KNOWN["labels"].flags.writeable


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"labels": np.zeros(N - 1)}, r"labels.*\(11,\).*12"),
        ({"labels": np.zeros((N, 2, 2))}, r"labels.*\(12, 2, 2\)"),
        ({"labels": np.zeros(N, complex)}, "labels.*complex128"),
        ({"labels": [[0.1, 0.2], None] * (N // 2)}, "labels.*12 entries of different lengths.*NaN"),
        ({"labels": np.where(np.arange(N) < 3, np.inf, np.nan)}, "labels.*infinite in 3.*NaN"),
        ({"pairs": np.zeros((4, 3), int)}, r"pairs.*\(4, 3\)"),
        ({"pairs": [[0.0, 1.0]]}, "pairs.*float64"),
        ({"pairs": [[0, N]]}, "0 to 12.*0 to 11"),
        ({"pairs": [[-1, 3]]}, "-1 to 3"),
        ({"pairs": [[0, 1], [7, 7]]}, "row 7"),
        ({"pairs": np.zeros(N, int)}, "12 rows"),
        ({"time": np.zeros((N, 2))}, r"\(12, 2\)"),
        ({"time": [np.nan] * N}, "12 rows"),
        ({"time": np.array(["NaT"] * N, "datetime64[s]")}, "12 rows"),
        ({"time": ["soon"] * N}, "soon"),
        ({"sets": np.zeros((N, 2))}, r"sets.*\(12, 2\)"),
        ({"covariates": np.full(N, np.inf)}, "covariates.*12"),
        ({"factors": np.zeros(3)}, r"factors.*\(3,\)"),
        ({"names": ["a"]}, r"names.*\(1,\)"),
    ],
)
def test_what_does_not_belong_to_the_rows_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        ub.Observations(X, **given)


def test_rows_that_are_drawn_anew_cannot_be_known():
    with pytest.raises(ValueError, match="sample"):
        ub.Observations(ub.datasets.load("isometric"), labels=np.zeros(10))
    with pytest.raises(TypeError, match="Observations"):
        ub.Observations(ub.Observations(X))


def test_pairs_by_a_number_per_row_are_the_same_pairs():
    numbers = np.full(N, -1)
    for number, pair in enumerate(KNOWN["pairs"]):
        numbers[pair] = number
    np.testing.assert_array_equal(ub.Observations(X, pairs=numbers).pairs, KNOWN["pairs"])
    half = ub.Observations(X[:6], pairs=numbers[:6])  # as cross-validation cuts it
    np.testing.assert_array_equal(half.pairs, [[0, 1], [2, 5]])


@pytest.mark.parametrize(
    "dates", [pd.date_range("2024-01-31", periods=N), [f"2024-05-{d:02d}" for d in range(1, N + 1)]]
)
def test_dates_are_times(dates):
    known = ub.Observations(X, time=dates)
    assert known.time.dtype.kind == "M"
    assert (np.diff(known.time) == np.timedelta64(1, "D")).all()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["30/01/2004 18.00.00", "31/01/2004 07.30.00"], ["2004-01-30T18:00", "2004-01-31T07:30"]),
        (["01/30/2004 6:05", "01/31/2004 07:30:10"], ["2004-01-30T06:05", "2004-01-31T07:30:10"]),
        (["10.03.2004", "11.03.2004", "01.04.2004"], ["2004-03-10", "2004-03-11", "2004-04-01"]),
        (["03-10-2004", "03-11-2004", "04-01-2004"], ["2004-03-10", "2004-03-11", "2004-04-01"]),
    ],
)
def test_dates_as_people_write_them(texts, expected):
    found = ub.Observations(X[: len(texts)], time=texts).time
    np.testing.assert_array_equal(found, np.array(expected, dtype="datetime64[s]"))


@pytest.mark.parametrize("texts", [["01/02/2004", "03/04/2004"], ["32/01/2004"] * 2, ["soon", "31/01/2004"]])
def test_dates_that_could_be_others_are_refused(texts):
    with pytest.raises(ValueError, match="time"):
        ub.Observations(X[:2], time=texts)


@pytest.mark.parametrize("rows", [[11, 4, 0, 1], np.isin(np.arange(N), [0, 1, 4, 11])])
@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, list, lambda x: ub.Blocks([x[:5], x[5:]])])
def test_a_subset_has_the_rows_and_what_is_known_of_them(rows, form):
    known = ub.Observations(form(X), **KNOWN, **ALSO)
    if isinstance(known.X, ub.Blocks):
        with pytest.raises(TypeError, match="number"):
            known.subset(rows)
        return
    part = known.subset(rows)
    index = np.arange(N)[rows]
    np.testing.assert_array_equal(np.asarray(part.X), X[index])
    for name in ("labels", "time", "sets", "covariates", "factors", "names"):
        np.testing.assert_array_equal(getattr(part, name), np.asarray((KNOWN | ALSO)[name])[index])
    assert {tuple(sorted(index[pair])) for pair in part.pairs} == {(0, 1), (4, 11)}
    assert len(known[rows, ...]) == 4


@pytest.mark.parametrize("name", KNOWN)
def test_the_fingerprint_tells_other_evidence_apart(name):
    known, bare = ub.Observations(X, **KNOWN), ub.Observations(X)
    other = ub.Observations(X, **KNOWN | {name: KNOWN[name][::-1]})
    assert known.fingerprint() == ub.Observations(X.copy(), **KNOWN).fingerprint()
    assert known.fingerprint() != other.fingerprint()
    assert known.only(name).fingerprint() != bare.fingerprint()
    uses = [kind for kind in KNOWN if kind != name]
    assert known.fingerprint(uses) == other.fingerprint(uses)
    assert bare.fingerprint() == f"X {Rows(X).fingerprint()}"
    assert known.fingerprint() != ub.Observations(X + 1, **KNOWN).fingerprint()


def test_factors_and_names_are_no_evidence():
    assert ub.Observations(X, **ALSO).fingerprint() == ub.Observations(X).fingerprint()


def test_text_has_one_mark_whatever_its_type():
    words = np.array(["a", "bb"] * (N // 2))
    marks = [ub.Observations(X, labels=form).marks() for form in (words, words.astype("U9"), words.astype(object))]
    assert marks[0] == marks[1] == marks[2]


def test_evidence_given_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        observe(ub.Observations(X, time=KNOWN["time"]), time=KNOWN["time"])
    both = observe(ub.Observations(X, time=KNOWN["time"]), labels=KNOWN["labels"])
    assert both.evidence == ("labels", "time")


def test_recordings_follow_each_other_with_a_gap():
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(n, 3)) for n in (4, 2, 5)]
    both = ub.Observations.recordings(parts, factors=[np.arange(len(p)) for p in parts], labels=np.arange(11))
    np.testing.assert_array_equal(both.X, np.concatenate(parts))
    assert both.factors.tolist() == [0, 1, 2, 3, 0, 1, 0, 1, 2, 3, 4]
    assert both.labels.tolist() == list(range(11))
    follow = steps(both.time)
    assert follow.tolist() == [[0, 1], [1, 2], [2, 3], [4, 5], [6, 7], [7, 8], [8, 9], [9, 10]]


def test_a_list_of_unequal_recordings_is_read_as_recordings():
    z = np.random.default_rng(0).normal(size=(650, 2))
    z[:, 0] = np.convolve(z[:, 0], 0.9 ** np.arange(50))[:650]  # one factor remembers, the other does not
    parts = np.split(z @ [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]], [400])
    named = ub.Observations.recordings(parts, factors=[np.arange(400), np.arange(250)])
    plain = ub.Observations(parts, factors=[np.arange(400), np.arange(250)])
    for known in (plain, observe(parts, labels=None), observe(parts, sets=[np.zeros(400, int), np.ones(250, int)])):
        np.testing.assert_array_equal(known.X, named.X)
        np.testing.assert_array_equal(known.time, named.time)
    np.testing.assert_array_equal(plain.factors, named.factors)
    hidden = ub.Observations([np.ma.masked_greater(part, 1) for part in parts])
    np.testing.assert_array_equal(hidden.X.mask, named.X > 1)
    own = ub.Observations(parts, time=[np.arange(400), np.arange(900, 1150)])
    assert own.time.tolist() == [*range(400), *range(900, 1150)]

    clocks = [np.arange(400), np.arange(250)]  # each begins at 0
    dates = [np.datetime64("2024-01-01") + clock for clock in clocks]
    for times in (clocks, dates):
        np.testing.assert_array_equal(steps(ub.Observations(parts, time=times).time), steps(named.time))

    fits = [ub.fit(X, "pca-ica", n_factors=2, random_state=0) for X in (parts, named)]
    assert fits[0].rotation == "time"
    np.testing.assert_array_equal(fits[0].transform(parts), fits[1].transform(named.X))


def test_times_tell_recordings_of_one_length_from_pictures():
    parts = [np.random.default_rng(i).normal(size=(40, 3)) for i in range(2)]
    named = ub.Observations.recordings(parts)
    for time in ([np.arange(40)] * 2, [list(range(40))] * 2, named.time):
        known = ub.Observations(parts, time=time)
        np.testing.assert_array_equal(known.X, named.X)
        np.testing.assert_array_equal(steps(known.time), steps(named.time))
    with pytest.raises(ValueError, match=facts("times", (2, 30), 2)):
        ub.Observations(parts, time=[np.arange(30)] * 2)
    with pytest.raises(ValueError, match=facts(2, "pictures", (40, 3), "ub.Observations.recordings(X)")):
        ub.diagnose(parts)
    trials = list(np.random.default_rng(0).normal(size=(40, 5, 3)))
    assert any("ub.Observations.recordings(X)" in reason for reason in ub.diagnose(trials).reasons)


def test_lists_that_are_no_recordings():
    pictures = [np.zeros((4, 3), np.uint8), np.zeros((5, 3), np.uint8)]
    for parts in (pictures, [np.zeros((4, 2)), np.zeros((5, 3))]):
        with pytest.raises(ValueError, match=facts("recordings", *(part.shape for part in parts))):
            ub.fit(parts)
    assert ub.Observations([np.zeros((4, 3))] * 2).evidence == ()  # a stack of two pictures


def test_recordings_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match=facts((2,), (3,))):
        ub.Observations.recordings([np.zeros((4, 2)), np.zeros((4, 3))])
    with pytest.raises(ValueError, match=facts("factors", [4, 3], [4, 4])):
        ub.Observations.recordings([np.zeros((4, 2))] * 2, factors=[np.zeros(4), np.zeros(3)])
