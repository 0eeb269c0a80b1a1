"""Columns that float32 cannot hold are refused by every flow that has a condition, not trained on silently."""

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts

X = np.random.default_rng(0).normal(size=(40, 4)) + [0, 1e8, 0, 0]


@pytest.mark.parametrize(
    "fit",
    [
        lambda: ub.SelfSupervisedGIN(augment=lambda x, rng: x + rng.normal(size=x.shape), max_steps=1).fit(X),
        lambda: ub.SelfSupervisedGIN(max_steps=1).fit(np.stack([X, X], axis=1)),
        lambda: ub.GIN(max_steps=1).fit(X, np.arange(40) % 2),
    ],
    ids=["augmented", "sets", "labels"],
)
def test_a_large_offset_is_refused_with_the_remedy(fit):
    with pytest.raises(ValueError, match=facts("column 1", "1e+08", "X - X.mean(axis=0)")):
        fit()
