"""The modules of torchmetrics give what the functions give of all batches at once."""

import numpy as np
import pytest
import torch
from torchmetrics import MetricCollection

import unbraid as ub
from tests.facts import facts
from unbraid.metrics.modules import _OFFERED, MetricModule


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, size=(300, 2))
    return factors, factors[:, ::-1] + 0.3 * rng.normal(size=(300, 2))


def fed(metric, sample, rows=90):
    factors, codes = sample
    for i in range(0, len(codes), rows):
        metric.update(torch.from_numpy(codes[i : i + rows].copy()), torch.from_numpy(factors[i : i + rows].copy()))
    return metric


@pytest.mark.parametrize("name", ["mcc", "mig", "mig_sup", "modularity", "sap", "med", "irs"])
def test_batches_give_the_number_of_the_whole(name, sample):
    assert float(fed(MetricModule(name), sample).compute()) == float(getattr(ub.metrics, name)(*sample))


def test_options_reach_the_function_and_several_numbers_have_names(sample):
    assert float(fed(MetricModule("mig", n_bins=5), sample).compute()) == ub.metrics.mig(*sample, n_bins=5)
    found = fed(MetricModule("infomec"), sample).compute()
    assert {k: float(v) for k, v in found.items()} == {k: getattr(ub.metrics.infomec(*sample), k) for k in found}
    assert set(found) == {"infom", "infoe", "infoc"}


def test_scores_without_factors_take_the_codes_alone(sample):
    metric = fed(MetricModule("total_correlation"), sample)
    assert float(metric.compute()) == ub.metrics.total_correlation(sample[1])
    assert not metric.higher_is_better


def test_a_collection_scores_all_and_starts_anew_after_reset(sample):
    collection = MetricCollection({"mcc": MetricModule("mcc"), "mig": MetricModule("mig")})
    for _ in range(2):
        assert {k: float(v) for k, v in fed(collection, sample).compute().items()} == {
            "mcc": ub.metrics.mcc(*sample),
            "mig": ub.metrics.mig(*sample),
        }
        collection.reset()


def test_a_copy_of_the_state_goes_on(sample):
    """What a checkpoint of a trainer keeps."""
    metric = MetricModule("mcc")
    metric.persistent(True)
    first = fed(metric, tuple(part[:100] for part in sample))
    other = MetricModule("mcc")
    other.persistent(True)
    other.load_state_dict(first.state_dict())
    assert float(fed(other, tuple(part[100:] for part in sample)).compute()) == pytest.approx(ub.metrics.mcc(*sample))


def test_half_precision_codes_are_scored(sample):
    factors, codes = sample
    metric = MetricModule("mcc")
    metric.update(torch.from_numpy(codes).bfloat16(), torch.from_numpy(factors))
    assert float(metric.compute()) == pytest.approx(ub.metrics.mcc(*sample), abs=1e-3)


def test_mistakes_are_sentences():
    with pytest.raises(ValueError, match=facts("'mic'", "mig")):
        MetricModule("mic")
    with pytest.raises(ValueError, match=facts("3 codes", "2 factors")):
        MetricModule("mig").update(torch.zeros(3, 1), torch.zeros(2, 1))
    with (
        pytest.warns(UserWarning, match="before the ``update``"),
        pytest.raises(ValueError, match=facts("mig", "update")),
    ):
        MetricModule("mig").compute()


def test_every_supervised_function_is_offered():
    assert {"mcc", "mig", "dci", "sap", "factor_vae", "beta_vae", "infomec", "explicitness"} <= set(_OFFERED)
