"""The machinery of reproductions, on a paper of six claims whose verdicts are known beforehand."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from tests.facts import facts
from unbraid.evaluation.claims import VERDICTS, Part, part
from unbraid_papers.bench import Bench
from unbraid_papers.ledger import Ledger
from unbraid_papers.paper import Drawing, Experiment, Paper, PaperClaim, Rows, Table, mean_part
from unbraid_papers.run import run_paper

RUN: list[int] = []


def line(cell, bench):
    RUN.append(cell["n"])
    bench.keep(cell, points=np.arange(cell["n"]))
    return {"twice": 2 * cell["n"]}


def absent(cell, bench):
    bench.find("no-such-weights.pt", what="a generator of faces")
    return {}


def twice(results):
    return {f"n = {n}": part(rows["twice"][0]) for n, rows in results["line"].groups("n")}


def draw(results, bench):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 1))
    figure.subplots().plot([len(bench.kept({"n": n})["points"]) for n in results["line"]["n"]])
    return figure


LINE = Experiment("line", "Numbers, doubled.", lambda scale: [{"n": n} for n in (1, 2, 3)], line)
ABSENT = Experiment("absent", "Needs a file.", lambda scale: [{"seed": 0}], absent)


def claim(name="it-doubles", **others):
    given = {"experiments": ("line",), "figures": twice} | others
    return PaperClaim(name, "It doubles.", "Figure 1", "4", "twice n", **given)


@pytest.fixture
def paper():
    RUN.clear()
    return Paper(
        name="toy",
        title="A toy",
        reference="Nobody 2026",
        about="Numbers.",
        experiments=(LINE, ABSENT),
        claims=(
            claim("all", least=2),
            claim("most", least=3),
            claim("none", most=1),
            claim("shorter", least=2, small="Three numbers in place of all."),
            claim("unsure", least=2, figures=lambda results: {"": Part(2.0, 1.0, 3.0)}),
            claim("untried", experiments=("absent",), figures=lambda results: {"": part(1)}, least=0),
        ),
        drawings=(Drawing("points", "Points.", ("line",), draw), Drawing("faces", "Faces.", ("absent",), draw)),
        tables=(Table("All", ("n", "twice"), ("line",), lambda r: [(x["n"], x["twice"]) for x in r["line"]]),),
    )


def test_verdicts_follow_from_the_figures(paper, tmp_path):
    page = run_paper(paper, "small", tmp_path)
    assert [c.verdict for c in page.claims] == list(VERDICTS)
    assert page.claims[1].held == ["n = 2", "n = 3"]
    assert "no-such-weights.pt" in page.claims[5].why
    assert page.claims[3].reason == "Three numbers in place of all. The figures here agree."
    assert (
        paper.claims[3].judge_on({"line": Rows([{"n": 1, "twice": 2}])}, {"line": ()}, "paper").verdict == "reproduced"
    )
    written = json.loads((tmp_path / "page.json").read_text())
    assert {c["id"]: c["verdict"] for c in written["claims"]} == dict(
        zip(("all", "most", "none", "shorter", "unsure", "untried"), VERDICTS)
    )
    assert written["tables"][0]["rows"] == [[1, 2], [2, 4], [3, 6]]
    assert [p.name for p in (tmp_path / "images").iterdir()] == ["points.png"]
    html = (tmp_path / "page.html").read_text()
    assert ", ".join(f"1 {verdict}" for verdict in VERDICTS) in html
    for kind, verdict in zip(("good", "look", "bad", "", "", ""), VERDICTS):
        assert f'<div class="card {kind}"><b>{verdict}</b>' in html
    assert html.index('class="card') < html.index("<figure>") < html.index("<table>"), "cards, pictures, tables"
    assert "no-such-weights.pt" in html


def test_what_is_done_is_not_run_again_and_a_new_version_is(paper, tmp_path):
    run_paper(paper, "small", tmp_path)
    run_paper(paper, "small", tmp_path)
    assert RUN == [1, 2, 3]
    newer = Paper(**{**vars(paper), "experiments": (Experiment(**{**vars(LINE), "version": 2}), ABSENT)})
    run_paper(newer, "small", tmp_path)
    assert RUN == [1, 2, 3, 1, 2, 3]


def test_undecided_parts_are_named():
    figures = {"a": Part(0.6, 0.4, 0.8), "b": Part(0.6, 0.55, 0.7), "c": mean_part([0.9])}
    found = claim(least=0.5, figures=lambda results: figures).judge_on(
        {"line": Rows([{"n": 1}])}, {"line": ["no file"]}
    )
    assert (found.verdict, found.held, found.undecided) == ("partly", ["b"], ["a", "c"])
    assert "a, c" in found.why
    assert "no file" in found.why


def test_ids_are_unique_in_a_paper(paper):
    with pytest.raises(ValueError, match=r"toy.*all"):
        Paper(**{**vars(paper), "beyond": (claim("all", least=2),)})


def test_mean_part_is_students_interval():
    from scipy import stats

    values = np.random.default_rng(0).normal(size=8)
    low, high = stats.t.interval(0.95, 7, values.mean(), stats.sem(values))
    assert mean_part(values) == pytest.approx((values.mean(), low, high))


def test_other_papers_scales_and_files_are_refused(paper, tmp_path):
    run_paper(paper, "small", tmp_path)
    with pytest.raises(ValueError, match=facts(str(tmp_path), "toy", "small", "paper")):
        run_paper(paper, "paper", tmp_path)
    with pytest.raises(ValueError, match=facts("scale", "'huge'", "small, paper")):
        run_paper(paper, "huge", tmp_path)
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(FileExistsError, match=facts(str(tmp_path / "file"))):
        run_paper(paper, "small", file)
    assert file.read_text() == "mine"
    other = tmp_path / "other"
    other.mkdir()
    (other / "rows.sqlite").write_bytes(b"no database at all, but long enough to be looked at" * 20)
    with pytest.raises(ValueError, match=facts("rows.sqlite")):
        run_paper(paper, "small", other)


def test_one_writer_at_a_time(tmp_path):
    first = Ledger(tmp_path / "rows.sqlite", "toy", "small")
    with pytest.raises(ValueError, match=facts(str(tmp_path), "locked")):
        Ledger(tmp_path / "rows.sqlite", "toy", "small")
    first.close()
    Ledger(tmp_path / "rows.sqlite", "toy", "small").close()


SLOW = """
import signal, sys
from pathlib import Path
from unbraid_papers.paper import Experiment, Paper
from unbraid_papers.run import run_paper

started = []

def run(cell, bench):
    print(cell["n"], flush=True)
    started.append(cell["n"])
    if len(started) == int(sys.argv[2]):
        signal.pause()  # until it is killed
    return {"n2": cell["n"] ** 2}

paper = Paper("slow", "", "", "", (Experiment("e", "", lambda s: [{"n": n} for n in range(12)], run),), ())
print("page", run_paper(paper, "small", Path(sys.argv[1])).experiments[0]["cells"], flush=True)
"""


@pytest.mark.parametrize("kills", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_a_killed_reproduction_goes_on(tmp_path, kills):
    command = [sys.executable, "-c", SLOW, str(tmp_path)]
    started: list[str] = []
    for _ in range(kills):
        with subprocess.Popen([*command, "3"], stdout=subprocess.PIPE, text=True, env=os.environ) as process:
            started += [process.stdout.readline().strip() for _ in range(3)]
            process.send_signal(signal.SIGKILL)
    last = subprocess.run([*command, "0"], capture_output=True, text=True, check=True).stdout.split("\n")
    started += [line for line in last if line.isdigit()]
    assert "page 12" in last
    assert sorted(set(started), key=int) == [str(n) for n in range(12)]
    assert len(started) <= 12 + kills  # each kill costs the cell that ran, no other


def test_bench_keeps_arrays_and_checkpoints_apart(tmp_path):
    bench = Bench("small", tmp_path)
    bench.keep({"a": 1}, x=np.arange(3))
    bench.keep({"a": 2}, x=np.arange(4))
    assert bench.kept({"a": 1})["x"].tolist() == [0, 1, 2]
    assert bench.checkpoint({"a": 1}) != bench.checkpoint({"a": 2})
