"""What scripts rely on: one JSON object, silence, exit codes, names that overwrite nothing, and tables by column."""

import json
import os
import re

import numpy as np
import pandas
import pytest
import tifffile

import unbraid as ub
from tests.cli.command_line import run
from unbraid.cli.data import Request, read_data
from unbraid.runtime import progress

Z = np.random.default_rng(0).uniform(size=(200, 2))
X = Z @ [[3.0, 1.0, 0.0], [0.0, 1.0, 2.0]]


@pytest.fixture
def fit(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def start(data, *args):
        return run(monkeypatch, capsys, "fit", data, "--method", "pca-ica", *args)

    return start


@pytest.fixture
def table(tmp_path):
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(heat=Z[:, 0], kind=np.where(Z[:, 1] > 0.5, "x", "y"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_one_object_on_standard_output(fit, table):
    result = fit(table, "--columns", "a,b,c", "--factors-from", "heat,kind", "--factors", 2, "--json")
    assert result.code == 0
    found = json.loads(result.out)
    assert (found["n_rows"], found["n_codes"], found["row_shape"]) == (200, 2, [3])
    factors = np.load(os.path.join(found["run"], "factors.npy"))
    np.testing.assert_allclose(factors[:, 0], Z[:, 0])
    assert set(factors[:, 1]) == {0, 1}
    codes = np.load(os.path.join(found["run"], "codes.npy"))
    assert found["mcc"] == pytest.approx(ub.metrics.mcc(factors, codes))
    assert {"codes.npy", "config.json", "report.html"} <= set(found["files"])


def test_columns_that_are_labels_or_factors_are_not_data(fit, table):
    assert fit(table, "--factors-from", "heat,kind", "--factors", 2, "--quiet").code == 0
    assert ub.load("runs/t-pca-ica").n_features_in_ == 3
    refused = fit(table)
    assert (refused.code, "kind" in refused.err, "--columns" in refused.err) == (2, True, True)
    refused = fit(table, "--columns", "a,z")
    assert refused.code == 2
    assert "'z'" in refused.err


@pytest.mark.parametrize(("header", "told"), [(True, ["dye", "salt"]), (False, ["amounts 1", "amounts 2"])])
def test_factors_of_a_file_of_their_own_have_names(fit, tmp_path, header, told):
    pandas.DataFrame(X, columns=["a", "b", "c"]).to_csv(tmp_path / "x.csv", index=False)
    pandas.DataFrame(Z, columns=["dye", "salt"]).to_csv(tmp_path / "amounts.csv", index=False, header=header)
    result = fit(tmp_path / "x.csv", "--factors-from", "amounts.csv", "--factors", 2, "--json")
    assert result.code == 0, result.err
    np.testing.assert_allclose(np.load(os.path.join(json.loads(result.out)["run"], "factors.npy")), Z)
    request = Request(str(tmp_path / "x.csv"), factors_from="amounts.csv")
    assert read_data(request, "pca-ica").factor_names == told


def test_quiet_is_silent(fit, table):
    result = fit(table, "--columns", "a,b,c", "--quiet")
    assert (result.code, result.out, result.err) == (0, "", "")


def test_default_names_do_not_overwrite_other_data(fit, tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "x.npy", X * (2 if folder == "two" else 1))
        assert json.loads(fit(tmp_path / folder / "x.npy", "--json").out)["run"].startswith("runs")
    assert sorted(os.listdir("runs")) == ["x-pca-ica", "x-pca-ica-2"]
    fit(tmp_path / "one" / "x.npy")
    assert sorted(os.listdir("runs")) == ["x-pca-ica", "x-pca-ica-2"], "the same data replace their own run"


def test_a_place_that_cannot_be_written_is_refused_before_the_work(fit, tmp_path):
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "file").touch()
    result = fit(tmp_path / "x.npy", "--out", tmp_path / "file" / "run")
    assert result.code == 2
    assert {"file", "--out"} <= set(re.findall(r"[-\w]+", result.err))


def test_refit_leaves_nothing_of_the_last_run(fit, table):
    fit(table, "--factors-from", "heat,kind", "--out", "run")
    assert os.path.exists("run/factors.npy")
    assert fit(table, "--columns", "a,b,c", "--out", "run").code == 0
    assert not os.path.exists("run/factors.npy")


def test_stacks_and_divide(fit, tmp_path):
    stack = np.random.default_rng(0).integers(0, 4096, (60, 8, 8), dtype=np.uint16)
    tifffile.imwrite(tmp_path / "stack.tif", stack)
    assert fit(tmp_path / "stack.tif", "--divide", 4095, "--factors", 2).code == 0
    model = ub.load("runs/stack-pca-ica")
    assert model.mean_.max() < 1
    bad = fit(tmp_path / "stack.tif", "--divide", 0)
    assert (bad.code, "--divide" in bad.err) == (2, True)


def test_a_fault_of_ours_says_how_to_report_it(monkeypatch, capsys, tmp_path):
    def broken(*args, **kwargs):
        raise LookupError("no such thing")

    monkeypatch.setattr("unbraid.cli.fit.read_data", broken)
    result = run(monkeypatch, capsys, "fit", "shapes-xy", "--out", tmp_path / "run")
    assert result.code == 1
    assert "LookupError" in result.err
    assert "/issues" in result.err


@pytest.mark.parametrize("error", [FloatingPointError("the loss is not finite"), MemoryError(), OSError(28, "full")])
def test_what_a_user_can_mend_is_a_sentence(monkeypatch, capsys, tmp_path, error):
    def broken(*args, **kwargs):
        raise error

    monkeypatch.setattr("unbraid.cli.fit.read_data", broken)
    result = run(monkeypatch, capsys, "fit", "shapes-xy", "--out", tmp_path / "run")
    assert result.code == 2
    assert "Traceback" not in result.err
    assert ("disk" in result.err) == isinstance(error, OSError)


def test_evaluate_scores_a_run_against_a_file_of_factors(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    factors = rng.uniform(size=(300, 2))
    np.save("X.npy", factors @ rng.normal(size=(2, 6)))
    np.save("factors.npy", factors)
    assert run(monkeypatch, capsys, "fit", "X.npy", "--method", "pca-ica", "--factors", 2, "--out", "run").code == 0
    result = run(monkeypatch, capsys, "evaluate", "run", "factors.npy", "--metrics", "mcc", "--json", "scores.json")
    assert result.code == 0, result.err
    assert ub.metrics.mcc(factors, np.load("run/codes.npy")) > 0.9
    assert str(round(ub.metrics.mcc(factors, np.load("run/codes.npy")), 3)) in result.out
    assert (refused := run(monkeypatch, capsys, "evaluate", "run")).code == 2
    assert "run factors.npy" in refused.err, "without factors it says what to type"


def test_evaluate_takes_options_of_the_data_set(monkeypatch, capsys, tmp_path):
    data = ub.datasets.load("shapes-xy", image_size=16)
    ub.PCAICA(2, random_state=0).fit(data.sample(200, random_state=0)[0]).save(tmp_path / "run")
    args = ("evaluate", tmp_path / "run", "--dataset", "shapes-xy", "--metrics", "mcc")
    assert run(monkeypatch, capsys, *args, "--option", "image_size=16").code == 0
    assert run(monkeypatch, capsys, *args).code == 2, "pictures of another size"
    result = run(monkeypatch, capsys, "evaluate", "codes.npy", "factors.npy", "--option", "image_size=16")
    assert (result.code, "--dataset" in result.err) == (2, True)


def test_lines_by_time_where_there_is_no_terminal(monkeypatch, capsys):
    clock = iter(range(0, 1000, 4))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.progress_style("lines"), progress.bar("fit", total=6) as advance:
        for _ in range(6):
            advance(1, loss=0.5)
    assert capsys.readouterr().err.splitlines() == [
        "fit: 3 of 6 after 12 s  loss 0.5",
        "fit: 6 of 6 after 24 s  loss 0.5",
    ]
    with progress.progress_style("off"), progress.bar("fit", total=6) as advance:
        advance()
    assert capsys.readouterr().err == ""
