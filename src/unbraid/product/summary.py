"""Summary of a product of intervals, circles and spheres."""

from typing import TYPE_CHECKING

from unbraid.estimator.summary import Fact, Section, Summary, codes_in_words, title_of

if TYPE_CHECKING:
    from unbraid.product.estimator import ProductManifold

MEASURES = {"interval": "long", "circle": "around", "sphere": "around"}


def summary_of(model: "ProductManifold") -> Summary:
    """Summary of a fitted :class:`~unbraid.ProductManifold`: its factors, their kinds, and every check."""
    facts, rows = [], []
    for i, (kind, columns) in enumerate(zip(model.kinds_, model.columns_)):
        name, sure = codes_in_words(columns), "verified" if model.verified_[i] else "not verified"
        facts.append(Fact(name, kind, f"{model.lengths_[i]:.3g} {MEASURES[kind]}, in units of the data; {sure}."))
        for check in model.checks_[i]:
            held = "yes" if check.holds else "no"
            rows.append((f"{name}: {kind}", check.name, f"{check.figure:.3g}", f"{check.threshold:.3g}", held))
    dimension = str(model.diagnostics_.dimension.dim)
    facts.append(Fact("dimension", dimension, "Of the data; the dimensions of the factors should add up to it."))
    words = {check.name: check.words for checks in model.checks_ for check in checks}
    meanings = tuple(f"{name}: {meaning}" for name, meaning in words.items())
    return Summary(
        title_of(model),
        facts,
        choices=[f"{name}: {how}." for name, how in model.selection_.items()],
        concerns=list(model.diagnostics_.concerns),
        note="All checks passed.",
        checked=True,
        sections=[Section("Checks", meanings, columns=("factor", "check", "figure", "threshold", "holds"), rows=rows)],
        n_shown=model._n_features_out,
        settings={"kinds": ", ".join(model.kinds_)},
        kinds=list(model.kinds_) if model.output == "angles" else [],
    )
