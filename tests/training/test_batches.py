"""What is known about the rows reaches the objective with its batch."""

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.data.rows import Rows
from unbraid.methods import METHODS, Method
from unbraid.training.batches import Batches, Points
from unbraid.training.devices import Device
from unbraid.training.trainer import Loss

X = np.arange(60.0).reshape(20, 3)
PAIRS = np.array([[0, 19], [3, 4], [7, 2]])


def batches(**known):
    return Batches(Points(Rows(X), known), 50, 0, Device("cpu"))


def test_a_batch_carries_what_is_known_about_its_rows():
    batch = batches(labels=np.arange(20) % 3, covariates=X[:, :1]).draw(4, True)
    np.testing.assert_array_equal(batch.x, X[batch.rows])
    np.testing.assert_array_equal(batch.known["labels"], batch.rows % 3)
    np.testing.assert_array_equal(batch.known["covariates"], X[batch.rows, :1])
    assert (batch.partner, batch.step, batch.log) == (None, 4, True)


def test_pairs_come_with_both_rows_and_are_drawn_alike_after_a_resume():
    drawn = batches(pairs=PAIRS)
    state = drawn.get_state()
    batch = drawn.draw(0, False)
    partner = dict(PAIRS.tolist())
    assert set(batch.rows) == set(partner)
    np.testing.assert_array_equal(batch.partner, X[[partner[row] for row in batch.rows]])
    again = batches(pairs=PAIRS)
    again.draw(0, False)
    again.set_state(*state)
    np.testing.assert_array_equal(again.draw(0, False).rows, batch.rows)


class PairAutoencoder(ub.Autoencoder):
    """Codes of a pair are drawn together: all that a method which learns from pairs has to write."""

    def fit(self, X, y=None, *, pairs=None):
        return super().fit(self._observed(X, pairs=pairs))

    def _objective(self, batch, networks, points, schedule):
        codes, others = (networks["encoder"](x) for x in (batch.x, batch.partner))
        apart = (codes - others).square().sum(1).mean()
        loss = self._reconstruction(networks, codes, batch.x).mean() + 10 * apart
        yield Loss("model", loss, {"loss": loss, "apart": apart})


@pytest.fixture
def in_the_table(monkeypatch):
    line = METHODS["autoencoder"]
    fields = {**vars(line), "estimator": "PairAutoencoder", "uses": ("pairs",)}
    monkeypatch.setitem(METHODS, "pair-autoencoder", Method(**fields))


def test_a_method_that_learns_from_pairs_is_its_module_and_its_line(in_the_table):
    rng = np.random.default_rng(0)
    rows = rng.normal(3, 2, size=(200, 4))
    pairs = rng.permutation(200).reshape(100, 2)
    settings = {"n_factors": 2, "max_steps": 150, "log_every": 50, "learning_rate": 1e-2, "random_state": 0}
    known = PairAutoencoder(**settings).fit(rows, pairs=pairs)
    a, b = known.transform(rows[pairs[:, 0]]), known.transform(rows[pairs[:, 1]])
    spread = np.square(known.transform(rows)).sum(1).mean()
    assert known.history_[-1]["apart"] < known.history_[0]["apart"]
    assert np.square(a - b).sum(1).mean() < spread
    assert known.evidence_.keys() == {"pairs"}
    with pytest.raises(ValueError, match=facts("Autoencoder", "pairs", "pair-autoencoder")):
        ub.Autoencoder(**settings).fit(ub.Observations(rows, pairs=pairs))
