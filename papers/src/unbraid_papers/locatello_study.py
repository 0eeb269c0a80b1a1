"""The paper's five questions, answered from the export of the laptop study."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbraid.datasets.storage import data_folder
from unbraid.study.analysis.paper import TRANSFER, variance_range
from unbraid_papers.paper import Cell, Claim, Experiment, Part, Results

if TYPE_CHECKING:
    from unbraid_papers.bench import Bench

QUESTIONS = ("independence", "agreement", "spread", "variance", "selection", "usefulness")
EXPORT = Path("studies") / "laptop"
HOW = (
    "the laptop study's export is not here. Run `unbraid study run laptop` and `unbraid study export studies/laptop "
    "laptop --codes 600`, or put its folder (with study.json) as studies/laptop into the current folder or that of "
    "UNBRAID_DATA."
)


def export_folder() -> Path | None:
    """The export, in the current folder or in the user's data folder."""
    places = (EXPORT, data_folder() / EXPORT)
    return next((place for place in places if (place / "study.json").is_file()), None)


def study_cells(scale: str) -> list[Cell]:
    """A cell per question. It is known by what the export holds: another export is asked anew."""
    folder = export_folder()
    known = "none" if folder is None else _fingerprint(folder)
    return [{"question": question, "export": known} for question in QUESTIONS]


def _fingerprint(folder: Path) -> str:
    found = hashlib.sha256()
    for name in ("study.json", "runs.parquet", "scores.parquet"):
        found.update((folder / name).read_bytes())
    return found.hexdigest()[:16]


def open_export(bench: "Bench") -> Any:
    """The export as a study, made a store again in the folder of the reproduction."""
    from unbraid.study import Store, merge, open_study

    folder = export_folder()
    if folder is None:
        raise FileNotFoundError(HOW)
    place = bench.folder / f"{_fingerprint(folder)}.study"
    with Store(place, create=True) as store:
        merge(store, [folder])
    return open_study(place)


def run_question(cell: Cell, bench: "Bench") -> Mapping[str, Any]:
    """The claims of one question as the study judges them, or why it cannot."""
    study = open_export(bench)
    try:
        return asked(study, cell["question"])
    finally:
        study.close()


def asked(study: Any, question: str, **options: Any) -> dict[str, Any]:
    """A question's answer as plain values."""
    from unbraid.study import analysis

    try:
        answer = analysis.QUESTIONS[question](study, **options)
    except analysis.Unanswerable as reason:
        return {"title": question.capitalize(), "claims": [], "n_runs": 0, "notes": [str(reason)]}
    claims = [asdict(claim) | {"verdict": claim.verdict} for claim in answer.claims]
    return {"title": answer.title, "claims": claims, "n_runs": answer.n_runs, "notes": list(answer.notes)}


STUDY = Experiment(
    "study",
    "The laptop study (six VAEs at six strengths on dSprites and the drawn room, 32 x 32, 800 steps; see the page on "
    "what a study means), read from its export; nothing is trained.",
    study_cells,
    run_question,
)


def found_claims(results: Results, question: str, beginning: str) -> dict[str, dict[str, Any]]:
    """Claims of the study on a question whose sentence begins so, by their sentence."""
    rows = results["study"].where(question=question)
    return {c["text"]: c for row in rows for c in row["claims"] if c["text"].startswith(beginning)}


def _single(question: str, beginning: str) -> Any:
    def figure(results: Results) -> dict[str, Part]:
        claims = list(found_claims(results, question, beginning).values())
        return {"": _part(claims[0])} if claims else {}

    return figure


def _part(claim: Mapping[str, Any]) -> Part:
    """The figure; without an interval (fewer than three seeds) it counts neither way."""
    ends = [claim["low"], claim["high"]]
    low, high = (-inf, inf) if any(x != x for x in ends) else ends
    return Part(claim["value"], low, high)


def criteria(results: Results) -> dict[str, Part]:
    """Median rank correlation of every unsupervised criterion with the metrics."""
    end = " does not tell good runs from bad ones"
    claims = found_claims(results, "selection", "")
    return {text.removesuffix(end): _part(claim) for text, claim in claims.items() if text.endswith(end)}


def _claim(question: str, beginning: str, text: str, source: str, paper: str, measure: str, **tolerance: Any) -> Claim:
    return Claim(text, source, paper, ("study",), _single(question, beginning), measure, **tolerance)


def _words(shares: tuple[float, float, float]) -> str:
    return f"{100 * shares[1]:.0f} % on average ({100 * shares[0]:.0f} to {100 * shares[2]:.0f} %)"


_OBJECTIVE, _STRENGTH = variance_range("objective"), variance_range("objective x strength")
_GAIN = "chance to beat a random run"
CLAIMS = (
    _claim("independence", "the total correlation of the mean", "The total correlation of the mean representation "
           "increases with the regularization strength.", "Figure 1", "no figure: increases",
           "mean rank correlation with strength", least=0.0,
           why="The picture of the total correlation shows at which strengths it falls here and at which it grows."),
    _claim("independence", "the total correlation of the sampled", "The total correlation of the sampled "
           "representation decreases with the regularization strength.", "Figure 1", "no figure: decreases",
           "mean rank correlation with strength", most=0.0),
    _claim("independence", "at full strength", "An uncorrelated aggregated posterior does not make the mean "
           "representation uncorrelated.", "Section 5.1, implications", "no figure: with minor exceptions",
           "runs at full strength whose mean codes have the higher total correlation, less the others, as a share",
           least=0.0),
    _claim("agreement", "all metrics but", "All metrics except Modularity are mildly correlated.", "Figure 2",
           "no figure: mildly correlated", "mean rank correlation", least=0.0),
    _claim("agreement", "BetaVAE score and", "BetaVAE and FactorVAE score are strongly correlated.", "Figure 2",
           "no figure: strongly correlated", "their rank correlation, less the mean of all", least=0.0),
    _claim("agreement", "MIG and", "MIG and DCI Disentanglement are strongly correlated.", "Figure 2",
           "no figure: strongly correlated", "their rank correlation, less the mean of all", least=0.0),
    _claim("agreement", "Modularity agrees less", "Modularity is the exception.", "Figure 2",
           "no figure: the exception", "mean rank correlation of the others, less that with Modularity", least=0.0),
    _claim("spread", "a good run", "A good run with a bad hyperparameter can beat a bad run with a good one.",
           "Figure 3", "no figure: it can", "chance that a run of the worst strength beats one of the best",
           least=0.025),
    _claim("variance", "the objective explains", "The objective explains a share of the variance of the scores as on "
           "the paper's data sets.", "Table a, variance explained", _words(_OBJECTIVE), "mean share",
           least=_OBJECTIVE[0], most=_OBJECTIVE[2]),
    _claim("variance", "the objective and its strength", "Objective and strength explain a share as on the paper's "
           "data sets.", "Table b, variance explained", _words(_STRENGTH), "mean share",
           least=_STRENGTH[0], most=_STRENGTH[2]),
    _claim("variance", "strength and seed", "Random seeds and hyperparameters matter more than the objective.",
           "Section 5.3, implication", "63 % against 37 %", "share that the objective leaves", least=0.5),
    _claim("selection", "a setting that was best", "A setting that is best with one seed beats a random one with "
           "another seed.", "Section 5.4", "80.7 %", _GAIN, least=0.5),
    _claim("selection", "more than half of that gain is lost on", "On another data set most of that is lost.",
           "Section 5.4", f"80.7 % becomes {100 * TRANSFER['same metric, other data set']:.1f} %",
           "half the gain over 50 %, less the gain there", least=0.0),
    _claim("selection", "more than half of that gain is lost by", "By another metric on another data set, too.",
           "Section 5.4", f"80.7 % becomes {100 * TRANSFER['other metric, other data set']:.1f} %",
           "half the gain over 50 %, less the gain there", least=0.0),
    Claim("No unsupervised score tells a good training run from a bad one.", "Section 5.4",
          "no figure: no clear pattern emerges", ("study",), criteria,
          "median rank correlation with the metrics (strong from 0.5 on)", least=-0.5, most=0.5),
    _claim("usefulness", "metrics (but Modularity)", "Downstream accuracy is correlated with the metrics.", "Figure 5",
           "no figure: correlated on dSprites", "median rank correlation", least=0.0),
    _claim("usefulness", "higher scores do not", "Higher scores do not reliably lead to a higher sample efficiency.",
           "Figure 6", "no figure: not observed", "median rank correlation (reliable from 0.5 on)", most=0.5,
           why="By a linear reader; \"many samples\" are those that the export has codes of."),
)  # fmt: skip
BEYOND = (
    _claim("selection", "UDR tells", "UDR tells good runs from bad ones.", "Duan et al. 2020", "it does",
           "median rank correlation with the metrics", least=0.0),
)  # fmt: skip


def answer_rows(results: Results) -> list[tuple[str, ...]]:
    """Question, what the paper says, its figure, ours with its interval, and the verdict in the study's words."""
    rows: list[tuple[str, ...]] = []
    for row in results["study"]:
        for claim in row["claims"]:
            said = f"{claim['text'][0].upper()}{claim['text'][1:]}."
            question = f"{row['title']} ({row['n_runs']} runs)"
            rows.append((question, said, claim["paper"], _figure(claim), claim["verdict"]))
        if not row["claims"]:
            rows.append((row["title"], "–", "–", " ".join(row["notes"]), "cannot tell at this size"))
    return rows


def _figure(claim: Mapping[str, Any]) -> str:
    def shown(x: float) -> str:
        return f"{100 * x:.1f} %" if claim["percent"] else f"{x:.2f}"

    none = claim["low"] != claim["low"]
    ends = "no interval: fewer than three seeds" if none else f"{shown(claim['low'])} to {shown(claim['high'])}"
    return f"{claim['measure']}: {shown(claim['value'])} ({ends})"
