"""Classes of users in a study and in a ranking: by module:Class, or by an entry point."""

import sys
from importlib.metadata import EntryPoint, EntryPoints

import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from tests.study.tiny import LINEAR
from unbraid import methods
from unbraid.study import parse_spec, rank, run_study
from unbraid.study.tasks import _code, tasks_of

MINE = """
from sklearn.base import BaseEstimator, TransformerMixin


class Projection(TransformerMixin, BaseEstimator):
    "The first columns, as they are."

    def __init__(self, n_factors=2, sign=1):
        self.n_factors, self.sign = n_factors, sign

    def fit(self, X, y=None):
        self.shape_ = X.shape
        return self

    def transform(self, X):
        return self.sign * X[:, : self.n_factors]


class NoMethod:
    pass
"""
OWN = LINEAR.replace(
    'name = "pca-ica"\nsweep = { n_factors = [2, 3] }', 'name = "mine:Projection"\nsweep = { sign = [-1, 1] }'
)


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path / "mine.py"
    sys.modules.pop("mine", None)
    methods._own_method.cache_clear()
    _code.cache_clear()


def test_a_class_of_the_working_directory_runs_in_a_study(mine, tmp_path):
    spec = parse_spec(OWN, "own.toml")
    run_study(spec, tmp_path / "s", workers=0)
    study = ub.study.open(tmp_path / "s")
    scores = study.scores().query("metric == 'mcc'")
    assert len(scores) == 4
    run = study.runs()["run"].iloc[0]
    X = ub.datasets.load("isometric", n_features=10)
    assert study.codes(run).shape == (200, 2)
    assert study.runs()["method"].unique().tolist() == ["mine:Projection"]
    assert scores["value"].between(0, 1).all()
    assert X.shape == (10,)
    # the same by hand: the first two columns of the pool
    pool, factors = X.sample(200, random_state=[0, 0])
    expected = ub.metrics.mcc(factors, pool[:, :2])
    np.testing.assert_allclose(scores["value"], expected, atol=1e-3)
    table = rank(study, "sklearn.decomposition:FastICA", "mcc", parameters={"n_components": 2}, seeds=1)
    assert table.loc[table["method"] == "sklearn.decomposition:FastICA", "place"].item() == 1
    assert table["median"].max() > expected + 0.05


def test_other_code_is_another_run(mine):
    before = tasks_of(parse_spec(OWN, "own.toml"))[0].run
    mine.write_text(MINE + "\n# changed\n")
    _code.cache_clear()
    assert tasks_of(parse_spec(OWN, "own.toml"))[0].run != before


def test_entry_points_bring_methods(mine, monkeypatch):
    found = EntryPoints([EntryPoint("projection", "mine:Projection", "unbraid.methods")])
    monkeypatch.setattr(methods, "_offered_elsewhere", lambda: found.select(group="unbraid.methods"))
    spec = parse_spec(OWN.replace("mine:Projection", "projection"), "own.toml")
    assert spec.estimator(spec.methods[0], {"sign": -1}).sign == -1
    with pytest.raises(ValueError, match=facts("'magic'", "pca-ica", "projection", "module:Class")):
        methods.method_of("magic")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nowhere:Class", ["nowhere:Class", "nowhere"]),
        ("mine:Missing", ["mine:Missing"]),
        ("mine:NoMethod", ["mine:NoMethod", "fit", "get_params"]),
    ],
)
def test_what_is_no_method_is_refused(mine, name, told):
    with pytest.raises(ValueError, match=facts(*told)):
        methods.method_of(name)
    with pytest.raises(ValueError, match=facts("name", *told)):
        parse_spec(OWN.replace("mine:Projection", name), "own.toml")


def test_a_subclass_of_ours_is_what_its_parent_is(mine):
    mine.write_text("import unbraid as ub\n\n\nclass Mine(ub.BetaVAE):\n    pass\n")
    found = methods.method_of("mine:Mine")
    assert (found.trained, found.needs, methods.is_own(found)) == (True, ("torch",), False)
