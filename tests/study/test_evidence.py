"""A study that knows something about its rows: files that are pinned, and given to the methods that use them."""

import numpy as np
import pytest

import unbraid as ub
from unbraid.study import SpecError, open, parse_spec, run_study, tasks_of, training_rows
from unbraid.study.work import pool_of

pytestmark = pytest.mark.filterwarnings("ignore::unbraid.trust.warnings.UnbraidWarning")

SPEC = """
name = "known"
seeds = 1
pool = 200
metrics = ["mcc"]

[[datasets]]
name = "isometric"
options = { n_features = 10 }
rows = 300
pairs = "pairs.npy"

[[methods]]
name = "hessian-ica"
parameters = { n_factors = 2, n_neighbors = 15, rotation = "pairs" }

[[methods]]
name = "pca-ica"
"""


@pytest.fixture(autouse=True)
def pairs(tmp_path, monkeypatch):
    """Pairs of rows whose first factors are nearly the same, in a file of the working directory."""
    monkeypatch.chdir(tmp_path)
    np.save("pairs.npy", np.zeros((0, 2), int))
    _, factors = training_rows(parse_spec(SPEC).datasets[0])
    order = np.concatenate([np.argsort(factors[:, 0]), np.argsort(factors[:, 1])])
    pairs = np.c_[order[:-1], order[1:]]
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    np.save("pairs.npy", pairs)
    return pairs


def test_methods_get_what_they_use_and_others_nothing(tmp_path, pairs):
    spec = parse_spec(SPEC)
    rotated, plain = tasks_of(spec)
    assert rotated.config["evidence"] == ub.Observations(np.empty((300, 0)), pairs=pairs).marks()
    assert "evidence" not in plain.config
    run_study(spec, tmp_path / "store", workers=0)
    X, _ = training_rows(spec.datasets[0])
    model = ub.HessianICA(2, 15, rotation="pairs", null="off", random_state=0).fit(X, pairs=pairs)
    codes = model.transform(pool_of(rotated.config)[0])
    np.testing.assert_allclose(open(tmp_path / "store").codes(rotated.run), codes, atol=1e-3)


def test_the_address_has_the_fingerprint_and_not_the_file(pairs):
    before = [task.run for task in tasks_of(parse_spec(SPEC))]
    np.save("same.npy", pairs)
    same = [task.run for task in tasks_of(parse_spec(SPEC.replace("pairs.npy", "same.npy")))]
    assert same == before
    np.savez("same.npz", pairs)
    np.savetxt("same.csv", pairs, "%d", delimiter=",", header="first,second", comments="")
    for kind in ("npz", "csv"):
        assert [task.run for task in tasks_of(parse_spec(SPEC.replace("pairs.npy", f"same.{kind}")))] == before
    np.save("pairs.npy", pairs[::-1])
    after = [task.run for task in tasks_of(parse_spec(SPEC))]
    assert (after[0] == before[0], after[1] == before[1]) == (False, True)


def test_a_table_of_one_column_has_one_value_per_row(tmp_path):
    from unbraid.study.evidence import observed

    np.savetxt("time.csv", np.arange(300.0), header="second", comments="")
    known = ub.Observations(np.empty((300, 2)), time=np.arange(300.0))
    assert observed(known.X, {"time": "time.csv"}, known.marks()).time.shape == (300,)


def test_a_condition_of_words_and_labels_with_empty_cells_are_read(tmp_path):
    from unbraid.study.evidence import known_of

    (tmp_path / "batch.csv").write_text("batch\n" + "dry\nwet\n" * 150)
    (tmp_path / "some.csv").write_text("\n".join(["0.5,1.5", *[","] * 299]) + "\n")
    by_condition = SPEC.replace('pairs = "pairs.npy"', 'condition = "batch.csv"').replace('"pairs"', '"condition"')
    data = parse_spec(by_condition).datasets[0]
    assert known_of(data).labels[:3].tolist() == ["dry", "wet", "dry"]
    labelled = SPEC.replace('pairs = "pairs.npy"', 'labels = "some.csv"').replace('"pairs"', '"labels"')
    assert np.isfinite(known_of(parse_spec(labelled).datasets[0]).labels).sum() == 2
    with pytest.raises(SpecError, match=r"condition.*labels"):
        parse_spec(by_condition.replace("condition =", 'labels = "some.csv"\ncondition ='))


def test_a_file_that_changes_under_a_study_is_noticed(pairs):
    from unbraid.study.evidence import observed

    (task, _) = tasks_of(parse_spec(SPEC))
    np.save("pairs.npy", pairs[::-1])
    with pytest.raises(ValueError, match=r"pairs\.npy.*pairs was"):
        observed(np.empty((300, 2)), task.files, task.config["evidence"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("rows = 300", ""), "rows"),
        (("pairs.npy", "no.npy"), r"line 11.*no\.npy"),
        (("pairs = ", "time = "), r"line 11.*time"),
        (("rows = 300", "rows = 200"), "0 to 199"),
        ((', rotation = "pairs"', ""), r"pairs.*hessian-ica, tangent-ica"),
        (("parameters", "rows = 100\nparameters"), "hessian-ica.*rows"),
    ],
)
def test_evidence_that_cannot_be_used_is_refused_with_its_line(change, message):
    with pytest.raises(SpecError, match=message):
        parse_spec(SPEC.replace(*change, 1))
