"""Claims of a paper, found by their id and judged on rows made by hand."""

from unbraid_papers.paper import Rows


def claim(paper, name):
    (found,) = [c for c in (*paper.claims, *paper.beyond) if c.id == name]
    return found


def judge(paper, name, **results):
    return claim(paper, name).judge_on({k: Rows(v) for k, v in results.items()}, dict.fromkeys(results, ()))


def verdicts(paper, **results):
    """Verdicts on all claims, by id; experiments that are not given have no rows."""
    rows = {e.name: Rows(results.get(e.name, ())) for e in paper.experiments}
    missing = dict.fromkeys(rows, ())
    return {c.id: c.judge_on(rows, missing).verdict for c in (*paper.claims, *paper.beyond)}


def shown(claim):
    """The figures as a page shows them."""
    return {name: figure.show(claim.percent) for name, figure in claim.parts.items()}
