"""Evidence by options: time, conditions and labelled rows in files of every kind, and what is refused."""

import numpy as np
import pytest

import unbraid as ub
from tests.cli.command_line import run

N = 500


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return lambda *args: run(monkeypatch, capsys, *args)


def refused(result, *said):
    assert result.code == 2, result.out
    assert all(str(text) in result.err for text in said), result.err


@pytest.fixture(scope="module")
def recording():
    """Two Gaussian factors of different rates, flat data."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(N, 2))
    for t in range(1, N):
        z[t] += np.array([0.9, 0.1]) * z[t - 1]
    return z, z @ rng.normal(size=(2, 4))


def save(name, values, head):
    if name.endswith(".npy"):
        np.save(name, values)
    elif name.endswith(".npz"):
        np.savez(name, values)
    else:
        lines = [",".join("" if cell == "nan" else cell for cell in map(str, np.atleast_1d(row))) for row in values]
        with open(name, "w", encoding="utf-8") as file:
            file.write("\n".join([*head, *lines]) + "\n")


@pytest.mark.parametrize("file", ["t.npy", "t.npz", "t.csv", "dates.csv"])
def test_a_recording_is_fitted_by_its_times(command, recording, file):
    z, X = recording
    np.save("recording.npy", X)
    dates = np.datetime64("2024-01-01") + np.arange(N)
    save(file, dates if file == "dates.csv" else np.arange(N) / 4, ["second"] if file == "t.csv" else [])
    result = command("fit", "recording.npy", "--time", file, "--out", "run")
    assert result.code == 0, result.err
    model = ub.load("run")
    assert (model.rotation, model.diagnosis_.theorem.id) == ("time", "sobi")
    assert ub.metrics.mcc(z, np.load("run/codes.npy")) > 0.99


@pytest.mark.parametrize("given", ["labels.npy", "labels.npz", "labels.csv", "a,b"])
def test_labelled_rows_are_factors_of_some_rows(command, recording, given):
    z, X = recording
    labels = np.where(np.arange(N)[:, None] % 20 == 1, z, np.nan)
    if given == "a,b":
        save("x.csv", np.c_[X, labels], ["1st,2nd,3rd,4th,a,b"])
    else:
        np.save("x.npy", X)
        save(given, labels, [])
    data = "x.csv" if given == "a,b" else "x.npy"
    result = command("fit", data, "--labels", given, "--labelled-rows", "--out", "run")
    assert result.code == 0, result.err
    model = ub.load("run")
    assert (model.rotation, model.n_features_in_, model.diagnosis_.free) == ("labels", 4, ())
    assert ub.metrics.mcc(z, np.load("run/codes.npy")) > 0.99


@pytest.mark.parametrize("given", ["batch.npy", "batch.npz", "batch.csv", "batch"])
def test_a_condition_is_a_column_or_a_file(command, given):
    rng = np.random.default_rng(0)
    batch = rng.integers(3, size=N)
    z = rng.normal(size=(N, 2)) * np.array([[1.0, 0.2], [0.2, 1.0], [1.0, 1.0]])[batch]
    X = z @ rng.normal(size=(2, 4))
    words = np.array(["dry", "wet", "cold"])[batch]
    if given == "batch":
        save("x.csv", np.c_[X.astype(str), words], ["1st,2nd,3rd,4th,batch"])
    else:
        np.save("x.npy", X)
        save(given, words if given.endswith("csv") else batch, ["batch"])
    data = "x.csv" if given == "batch" else "x.npy"
    arguments = (data, "--method", "pca-ica", "--factors", 2, "--condition", given, "--out", "run")
    result = command("fit", *arguments)
    assert result.code == 0, result.err
    assert ub.load("run").rotation == "condition"
    assert ub.metrics.mcc(z, np.load("run/codes.npy")) > 0.99


def test_the_diagnosis_prints_what_is_identified(command, recording):
    np.savez("x.npz", X=recording[1], t=np.arange(N))
    result = command("diagnose", "x.npz", "--key", "X", "--time", "t")
    assert result.code == 0, result.err
    assert "Belouchrani" in result.out
    assert "+ pca-ica rotation=time, seconds" in result.out
    np.save("gaussian.npy", np.random.default_rng(0).normal(size=(N, 2)) @ [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    plain = command("diagnose", "gaussian.npy")
    assert "(--time)" in plain.out
    assert "A twin" in plain.out


def test_evidence_that_contradicts_itself_is_refused(command, recording):
    z, X = recording
    np.savez("x.npz", X=X, c=np.arange(N) % 2, some=np.where(np.arange(N) < 20, z[:, 0], np.nan), one=np.zeros(N, int))
    command_ = ("fit", "x.npz", "--key", "X", "--out", "run")
    refused(command(*command_, "--labels", "c", "--condition", "c"), "--labels", "--condition")
    refused(command(*command_, "--labelled-rows"), "--labels")
    refused(command(*command_, "--labels", "some"), "--labelled-rows", N - 20)
    refused(command(*command_, "--labels", "c", "--labelled-rows"), "--condition", N)
    refused(command(*command_, "--method", "vae", "--condition", "c"), "--condition", "gin")
    refused(command(*command_, "--method", "pca-ica", "--condition", "one"), "1 condition")
    refused(command(*command_, "--time", "c"), "time", "rows 0 and 2")
    refused(command("fit", "shapes-xy", "--condition", "c"), "--condition", "shapes-xy")


def test_words_are_no_known_factors(command, recording):
    words = np.where(np.arange(N) < 20, "high", "")
    save("x.csv", np.c_[recording[1].astype(str), words], ["1st,2nd,3rd,4th,level"])
    refused(command("diagnose", "x.csv", "--labels", "level", "--labelled-rows"), "level", "high", "--condition")
