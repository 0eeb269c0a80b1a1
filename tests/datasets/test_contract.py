"""The contract of every data set: shapes, repeatability, pairs, blocks, parts, errors."""

import numpy as np
import pytest

from tests.datasets import originals
from tests.facts import facts
from unbraid import datasets
from unbraid.datasets import registry
from unbraid.datasets.finite import Listed
from unbraid.datasets.tables import Table

SMALL = {
    "shapes-xy": {"image_size": 16},
    "shapes-xc": {"image_size": 16},
    "room": {"image_size": 16},
    "rendered-object": {"image_size": 16, "samples": 1},
    "turntable": {"image_size": 16},
    "turning-patch": {"image_size": 16},
    "isometric": {"n_factors": 3, "n_features": 20, "noise": 0.1},
}


def make(name, folder):
    if registry.entry(name).origin in ("file", "package"):
        return datasets.load(name, **originals.write(name, folder))
    if name == "gan-manifold":
        from unbraid_papers.generators.dcgan import DCGANGenerator

        return datasets.load(name, generator=DCGANGenerator(width=2, image_size=16), n_samples=60)
    return datasets.load(name, **SMALL.get(name, {}))


@pytest.fixture(scope="module", params=registry.names())
def dataset(request, tmp_path_factory):
    return make(request.param, tmp_path_factory.mktemp("originals"))


def test_sample_has_the_promised_shapes(dataset):
    X, factors = dataset.sample(7, random_state=0)
    assert X.shape == (7, *dataset.shape)
    assert X.dtype == dataset.dtype
    assert factors.shape == (7, len(dataset.factor_names))
    if len(dataset.shape) > 1 and X.dtype.kind == "f":
        assert 0 <= X.min() < X.max() <= 1
    assert (dataset.factor_sizes is None) != (dataset.factor_ranges is None)


def test_one_random_state_one_sample(dataset):
    first, second, other = (dataset.sample(5, random_state=s) for s in (3, 3, 4))
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])
    assert not np.array_equal(first[0], other[0])


def test_observe_gives_back_the_sample_without_noise(dataset):
    factors = dataset.sample_factors(4, 0)
    assert np.array_equal(dataset.observe(factors, 1), dataset.observe(factors.astype(float), 1))
    assert dataset.observe(factors[0], 1).shape == (1, *dataset.shape)


def test_factors_lie_in_their_sizes_or_ranges(dataset):
    factors = dataset.sample_factors(50 if isinstance(dataset, Table) else 200, 0)
    if dataset.factor_sizes is not None:
        assert factors.dtype.kind == "i"
        low, high = 0, np.array(dataset.factor_sizes) - 1
    else:
        low, high = np.array(dataset.factor_ranges).T
    assert (factors >= low).all()
    assert (factors <= high).all()


def test_pairs_agree_in_the_shared_factor_and_by_chance_elsewhere(dataset):
    n = 30 if isinstance(dataset, Table) else 300
    for group, columns in dataset.factor_groups.items():
        (X_a, a), (X_b, b) = dataset.sample_pairs(n, shared=group, random_state=0)
        assert len(X_a) == len(X_b) == n
        assert np.array_equal(a[:, columns], b[:, columns])
        if isinstance(dataset, Table):
            continue
        for other, rest in dataset.factor_groups.items():
            if other == group:
                continue
            same = (a[:, rest] == b[:, rest]).all(axis=1).mean()
            chance = 0 if dataset.factor_sizes is None else 1 / np.prod(dataset.factor_sizes[rest])
            assert abs(same - chance) <= 4 * np.sqrt(chance * (1 - chance) / n)


def differ(dataset, a, b):
    """Which factors differ, (n, groups)."""
    return np.stack([(a[:, g] != b[:, g]).any(axis=1) for g in dataset.factor_groups.values()], axis=1)


def can_change(dataset):
    sizes = dataset.factor_sizes
    return sum(sizes is None or np.prod(sizes[g]) > 1 for g in dataset.factor_groups.values())


def test_as_many_factors_change_as_asked_for_and_every_one_in_some_pair(dataset):
    n, most = (30, 1) if isinstance(dataset, Table) else (200, can_change(dataset))
    for changed in {1, most}:
        (_, a), (_, b) = dataset.sample_pairs(n, changed=changed, random_state=0)
        if isinstance(dataset, Table):
            assert (differ(dataset, a, b).sum(axis=1) <= changed).all()
            continue
        assert (differ(dataset, a, b).sum(axis=1) == changed).all()
        assert differ(dataset, a, b).any(axis=0).sum() == most
    with pytest.raises(ValueError, match=facts("changed", dataset.name, can_change(dataset))):
        dataset.sample_pairs(2, changed=can_change(dataset) + 1)


def test_pairs_are_observations(dataset):
    known = dataset.sample_observations(5, changed=1, random_state=0)
    (X_a, a), (X_b, b) = dataset.sample_pairs(5, changed=1, random_state=0)
    assert np.array_equal(known.X, np.concatenate([X_a, X_b]))
    assert np.array_equal(known.factors[known.pairs[:, 1]], b)
    assert np.array_equal(known.factors[known.pairs[:, 0]], a)


def test_steps_stay_in_the_range_and_are_refused_where_there_are_none(dataset):
    if isinstance(dataset, Listed) or any(g.stop - g.start > 1 for g in dataset.factor_groups.values()):
        with pytest.raises(ValueError, match=facts("step", dataset.name)):
            dataset.sample_pairs(2, step=0.1)
        return
    (_, a), (_, b) = dataset.sample_pairs(100, step=0.1, changed=1, random_state=0)
    assert (differ(dataset, a, b).sum(axis=1) == 1).all()
    dataset._check_factors(b)


def test_blocks_walk_through_a_sample(dataset):
    parts = list(dataset.blocks(size=4, n=10, random_state=0))
    assert [len(X) for X, _ in parts] == [4, 4, 2]
    assert np.array_equal(np.concatenate([f for _, f in parts]), dataset.sample_factors(10, 0))


def test_split_shares_no_row_and_a_subset_stays_the_same(dataset):
    train, test = dataset.split(test=0.25, n=40, random_state=0)
    assert (len(train), len(test)) == (30, 10)
    X, factors = test.sample(10, random_state=1)
    again = test.sample(10, random_state=1)
    assert np.array_equal(X, again[0])
    assert np.array_equal(factors, again[1])
    assert len(list(train.blocks(size=20))) == 2
    part = dataset.subset(12, random_state=2).subset([0, 5, 11])
    assert len(part) == 3
    assert part.rows([2])[0].shape == (1, *dataset.shape)
    with pytest.raises(ValueError, match=facts("n=11", 10)):
        test.sample(11)


def test_wrong_factors_say_what_is_right(dataset):
    with pytest.raises(ValueError, match=facts(dataset.n_factors, (2, dataset.n_factors + 2))):
        dataset.observe(np.zeros((2, dataset.n_factors + 2)))
    with pytest.raises(ValueError, match=facts("'hat'", ", ".join(dataset.factor_names))):
        dataset.sample_pairs(2, shared="hat")
    with pytest.raises(ValueError, match=facts("n", 1, 0)):
        dataset.sample(0)
    high = list(dataset.factor_sizes) if dataset.factor_sizes else [r[1] + 1 for r in dataset.factor_ranges]
    if np.isfinite(high).all():
        with pytest.raises(ValueError, match=facts(repr(dataset.factor_names[0]))):
            dataset.observe([high])


def test_unknown_names_and_options_list_the_valid_ones():
    with pytest.raises(ValueError, match=facts("'shapes'", "shapes-xy, shapes-xc")):
        datasets.load("shapes")
    with pytest.raises(ValueError, match=facts("shapes-xy", "size", "image_size, dtype")):
        datasets.load("shapes-xy", size=3)


def test_endless_data_sets_ask_for_a_number():
    shapes = datasets.load("shapes-xy")
    with pytest.raises(ValueError, match=facts("shapes-xy", "n")):
        next(shapes.blocks())
    with pytest.raises(ValueError, match=facts("shapes-xy", "n")):
        shapes.split()
    with pytest.raises(ValueError, match=facts("shapes-xy")):
        shapes.subset([1, 2])


def test_pairs_within_a_part_stay_in_it():
    part = datasets.load("dsprites").subset(500, random_state=0)
    rows = {tuple(f) for f in part.factors_at(np.arange(500)).tolist()}
    (_, a), (_, b) = part.sample_pairs(400, shared=["shape", "scale"], random_state=0)
    assert {tuple(f) for f in np.concatenate([a, b]).tolist()} <= rows
    assert np.array_equal(a[:, :2], b[:, :2])
    assert 0 < (a[:, 3] == b[:, 3]).mean() < 0.15
    few = datasets.load("isometric").subset(10, random_state=0)
    (X_a, a), (X_b, b) = few.sample_pairs(5, shared=0, random_state=0)
    assert np.array_equal(a, b)


def test_how_many_factors_change_is_drawn_evenly():
    data = datasets.load("dsprites")
    (_, a), (_, b) = data.sample_pairs(2000, changed="some", random_state=0)
    sizes = data.factor_sizes
    free, counts = can_change(data), differ(data, a, b).sum(axis=1)
    share = np.bincount(counts, minlength=free + 1) / 2000
    highest = min(free, len(sizes) - 1)
    assert np.abs(share[1 : highest + 1] - 1 / highest).max() < 4 * np.sqrt(1 / highest / 2000)
    (_, a), (_, b) = data.sample_pairs(500, changed=(2, 3), shared="scale", random_state=0)
    assert set(differ(data, a, b).sum(axis=1)) == {2, 3}
    assert np.array_equal(a[:, data.columns("scale")], b[:, data.columns("scale")])


def test_a_step_is_laplace_of_the_mean_size_asked_for():
    data = datasets.load("isometric", n_factors=2, n_features=10)
    (_, a), (_, b) = data.sample_pairs(20_000, step=0.02, random_state=0)
    inside = ((a > 0.3) & (a < 0.7)).all(axis=1)
    steps = (b - a)[inside]
    assert np.abs(steps).mean() == pytest.approx(0.02, rel=0.05)
    assert (steps**4).mean() / (steps**2).mean() ** 2 == pytest.approx(6, rel=0.25)


def test_pairs_within_a_part_change_no_more_than_asked_for():
    part = datasets.load("dsprites").subset(20_000, random_state=0)
    (_, a), (_, b) = part.sample_pairs(300, changed=2, random_state=0)
    changes = differ(part, a, b).sum(axis=1)
    assert changes.max() == 2
    assert (changes == 2).mean() > 0.5
