"""Tables and folders on the command line: what was decided is printed, and names travel from the rows to the codes."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas
import pytest
from PIL import Image

import unbraid as ub
from tests.cli.command_line import run
from unbraid.app.kept import read
from unbraid.app.workspace import workspace_of

RNG = np.random.default_rng(0)
Z = RNG.uniform(size=(120, 2))
X = Z @ RNG.normal(size=(2, 6))


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return lambda *args: run(monkeypatch, capsys, *args)


def fit(command, *args):
    return command("fit", *args, "--method", "pca-ica", "--factors", 2, "--out", "run")


def codes_of(run="run"):
    with open(f"{run}/codes.csv", newline="") as file:
        return list(csv.reader(file))


def test_a_header_of_wavelengths_is_no_row_and_is_told(command):
    pandas.DataFrame(X, columns=range(400, 460, 10)).to_csv("spectra.csv", index=False)
    result = fit(command, "spectra.csv")
    assert result.code == 0, result.err
    assert "400, 410, 420" in result.out
    assert "400, 410, 420" in Path("run/report.html").read_text()
    assert len(codes_of()) == 121
    assert json.loads(Path("run/fit.json").read_text())["columns"] == [str(w) for w in range(400, 460, 10)]
    found = json.loads(fit(command, "spectra.csv", "--json").out)
    assert (found["n_rows"], len(found["decisions"])) == (120, 1)
    assert fit(command, "spectra.csv", "--columns", "410:430").code == 0
    assert ub.load("run").n_features_in_ == 3


def test_row_names_travel_to_codes_report_and_explorer(command):
    names = [f"patient {i}" for i in RNG.permutation(120)]
    frame = pandas.DataFrame(X, columns=list("abcdef")).assign(who=names, dose=Z[:, 0])
    frame.to_csv("t.csv", index=False)
    assert fit(command, "t.csv", "--factors-from", "dose").code == 0
    table = codes_of()
    assert [row[0] for row in table[1:]] == names
    np.testing.assert_allclose(np.array(table[1:])[:, 1:].astype(float), np.load("run/codes.npy"), rtol=1e-6)
    lowest = names[int(np.load("run/codes.npy")[:, 0].argmin())]
    assert lowest in Path("run/report.html").read_text()
    kept = read(Path("run"))
    assert kept.names.tolist() == names
    space = workspace_of(["run"])
    assert space.overview()["examples"] == names
    assert [line.split(",")[0].strip('"') for line in space.table(0).splitlines()[1:]] == names


def test_a_day_and_a_clock_are_a_time(command):
    frame = pandas.DataFrame(X, columns=list("abcdef")).assign(
        day="28/02/2004", at=[f"{i // 60}.{i % 60:02d}.00" for i in range(120)]
    )
    frame.to_csv("t.csv", index=False)
    found = command("diagnose", "t.csv", "--time", "day,at", "--json", "found.json")
    assert found.code == 0, found.err
    assert json.loads(Path("found.json").read_text())["evidence"] == ["time"]


def test_column_names_travel_to_report_and_explorer(command, monkeypatch):
    from unbraid.report import meaning

    named = []
    draw = meaning.plot_loadings
    monkeypatch.setattr(
        meaning, "plot_loadings", lambda found, **given: named.extend(found.feature_names) or draw(found, **given)
    )
    pandas.DataFrame(X, columns=list("abcdef")).to_csv("t.csv", index=False)
    assert fit(command, "t.csv").code == 0
    assert named == read(Path("run")).columns == list("abcdef")
    (shown,) = workspace_of(["run"]).overview()["runs"]
    lines = " ".join(value for name, value, _ in shown["facts"] if name.startswith("code "))
    assert any(f"{letter} " in lines for letter in "abcdef"), lines


def test_rows_that_are_left_out_are_left_out_of_what_is_known(command):
    table = X.copy()
    table[[3, 50], 2] = -200
    frame = pandas.DataFrame(table, columns=list("abcdef")).assign(dose=Z[:, 0])
    frame.to_csv("t.csv", index=False)
    refused = fit(command, "t.csv", "--factors-from", "dose")
    assert (refused.code, "'c' (2)" in refused.err, "--missing -200" in refused.err) == (2, True, True)
    assert fit(command, "t.csv", "--factors-from", "dose", "--missing", "-200", "--drop-missing").code == 0
    stay = np.delete(np.arange(120), [3, 50])
    np.testing.assert_allclose(np.load("run/factors.npy")[:, 0], Z[stay, 0])
    assert [row[0] for row in codes_of()[1:]] == [str(i) for i in stay]


def test_factors_of_images_are_found_by_file_name(command, tmp_path):
    (tmp_path / "photos").mkdir()
    pictures = np.round(255 * (X - X.min()) / np.ptp(X)).astype(np.uint8).reshape(-1, 2, 3)
    for i, picture in enumerate(pictures):
        Image.fromarray(picture).save(tmp_path / "photos" / f"{i}.png")
    table = pandas.DataFrame({"file": [f"{i}.png" for i in range(120)], "x": Z[:, 0], "y": Z[:, 1]})
    table.sample(frac=1, random_state=0).to_csv("labels.csv", index=False)
    result = fit(command, "photos", "--factors-from", "labels.csv")
    assert result.code == 0, result.err
    assert "'file'" in result.out
    np.testing.assert_allclose(np.load("run/factors.npy"), Z)
    assert codes_of()[3][0] == "2.png"
    table[["x", "y"]].assign(lamp="on").to_csv("labels.csv", index=False)
    unnamed = fit(command, "photos", "--factors-from", "labels.csv")
    assert (unnamed.code, "'0.png'" in unnamed.out, "'lamp'" in unnamed.out) == (0, True, True)
    table[:100].to_csv("labels.csv", index=False)
    refused = fit(command, "photos", "--factors-from", "labels.csv")
    assert (refused.code, "100.png" in refused.err, "'file'" in refused.err) == (2, True, True)


@pytest.mark.parametrize("flag", ["--exclude", "--index", "--missing", "--fill"])
def test_options_of_tables_are_for_tables(command, flag):
    np.save("x.npy", X)
    refused = fit(command, "x.npy", flag, "a")
    assert (refused.code, flag in refused.err, ".csv" in refused.err) == (2, True, True)
    assert flag in fit(command, "shapes-xy", flag, "a").err


def test_gaps_go_to_a_method_that_takes_them(command):
    table = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
    pandas.DataFrame(table, columns=list("abcdef")).assign(x=Z[:, 0], y=Z[:, 1]).to_csv("t.csv", index=False)
    found = fit(command, "t.csv", "--factors-from", "x,y", "--json")
    assert found.code == 0, found.err
    assert json.loads(found.out)["mcc"] > 0.95
    other = command("fit", "t.csv", "--exclude", "x,y", "--method", "product-manifold", "--out", "other")
    assert (other.code, "--drop-missing" in other.err) == (2, True)
