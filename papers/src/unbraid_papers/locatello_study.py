"""The paper's five questions, answered from the export of the laptop study."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbraid.datasets.storage import data_folder
from unbraid.evaluation.claims import CANNOT_TELL, Claim, Part
from unbraid.study.analysis.claims import CLAIMS as STUDY_CLAIMS
from unbraid_papers.paper import Cell, Experiment, PaperClaim, Results

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
    """A cell per question. It is identified by the content of the export, so another export is analysed again."""
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
    """A question's answer as plain values: the figures of each claim, by its id."""
    from unbraid.study import analysis

    try:
        answer = analysis.QUESTIONS[question](study, **options)
    except analysis.Unanswerable as reason:
        return {"title": question.capitalize(), "claims": {}, "n_runs": 0, "notes": [str(reason)]}
    claims = {claim.id: dict(claim.parts) for claim in answer.claims}
    return {"title": answer.title, "claims": claims, "n_runs": answer.n_runs, "notes": list(answer.notes)}


STUDY = Experiment(
    "study",
    "The laptop study (six VAEs at six strengths on dSprites and the drawn room, 32 x 32, 800 steps; see the page on "
    "what a study means), read from its export; nothing is trained.",
    study_cells,
    run_question,
    version=2,
)


def figures_of(claim: str) -> Callable[[Results], dict[str, Part]]:
    """The figures that the study has for the claim of this id."""

    def figures(results: Results) -> dict[str, Part]:
        rows = (row["claims"].get(claim, {}) for row in results["study"])
        return {name: Part(*numbers) for parts in rows for name, numbers in parts.items()}

    return figures


SHORT = "800 steps in place of 300,000, two data sets of 32 x 32 pictures in place of seven of 64 x 64."


def _tested(claim: Claim) -> PaperClaim:
    given = vars(claim) | {"why": REMARKS.get(claim.id, ""), "differs": SHORT}
    return PaperClaim(**given, experiments=("study",), figures=figures_of(claim.id))


REMARKS = {
    "mean-tc-grows": "The picture of the total correlation shows at which strengths it falls and at which it grows.",
    "efficiency-unreliable": 'By a linear reader; "many samples" are those that the export has codes of.',
}
OTHERS = ("udr-tells", "udr-chooses")  # of another paper
CLAIMS = tuple(_tested(claim) for claim in STUDY_CLAIMS.values() if claim.id not in OTHERS)
BEYOND = tuple(_tested(STUDY_CLAIMS[name]) for name in OTHERS)


def answer_rows(results: Results) -> list[tuple[str, ...]]:
    """Question, what the paper says, its figure, ours with its interval, and the verdict."""
    rows: list[tuple[str, ...]] = []
    for row in results["study"]:
        question = f"{row['title']} ({row['n_runs']} runs)"
        for name, parts in row["claims"].items():
            claim = replace(STUDY_CLAIMS[name], differs=SHORT)
            claim = claim.judge({part: Part(*numbers) for part, numbers in parts.items()})
            rows.append((question, claim.text, claim.paper, claim.here, claim.verdict))
        if not row["claims"]:
            rows.append((row["title"], "–", "–", " ".join(row["notes"]), CANNOT_TELL))
    return rows
