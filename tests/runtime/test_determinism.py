"""Every kind of random state, as one."""

import numpy as np
import pytest

from tests.facts import facts
from unbraid.runtime.determinism import check_random_state, seed_of


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_a_state_is_drawn_from(make):
    """Two calls with one state go on; two states of one seed agree."""
    one, other = make(5), make(5)
    drawn = [seed_of(one) for _ in range(3)]
    assert drawn == [seed_of(other) for _ in range(3)]
    assert len(set(drawn)) == 3
    assert check_random_state(one).uniform() == check_random_state(other).uniform()


def test_a_number_gives_numpys_stream():
    np.testing.assert_array_equal(check_random_state(3).normal(size=4), np.random.RandomState(3).normal(size=4))
    assert seed_of(3) == np.random.RandomState(3).randint(2**31 - 1)


@pytest.mark.parametrize("wrong", ["seed", 1.5, -1, 2**32])
def test_what_is_no_random_state(wrong):
    with pytest.raises(ValueError, match=facts("random_state", "2**32 - 1", "numpy.random.Generator")):
        check_random_state(wrong)
