"""Summary of a product of intervals, circles and spheres."""

from typing import TYPE_CHECKING

from unbraid.estimator.summary import Fact, Section, Summary, codes_in_words, title_of

if TYPE_CHECKING:
    from unbraid.product.estimator import ProductManifold

MEASURES = {"interval": "long", "circle": "around", "sphere": "around"}


def summary_of(model: "ProductManifold") -> Summary:
    """Summary of a fitted :class:`~unbraid.ProductManifold`: its factors, their kinds, and every check."""
    facts = [
        Fact(
            codes_in_words(columns),
            kind,
            f"{length:.3g} {MEASURES[kind]}, in units of the data; {'verified' if sure else 'not verified'}.",
        )
        for kind, columns, length, sure in zip(model.kinds_, model.columns_, model.lengths_, model.verified_)
    ]
    dimension = model.diagnostics_.dimension
    facts.append(
        Fact("dimension", str(dimension.dim), "Of the data; the dimensions of the factors should add up to it.")
    )
    rows = [
        (
            f"{codes_in_words(columns)}: {kind}",
            check.name,
            f"{check.figure:.3g}",
            f"{check.threshold:.3g}",
            "yes" if check.holds else "no",
        )
        for kind, columns, checks in zip(model.kinds_, model.columns_, model.checks_)
        for check in checks
    ]
    meanings = {check.name: check.words for checks in model.checks_ for check in checks}
    return Summary(
        title_of(model),
        facts,
        choices=[f"{name}: {how}." for name, how in model.selection_.items()],
        concerns=list(model.diagnostics_.concerns),
        note="All checks passed.",
        checked=True,
        sections=[
            Section(
                "Checks",
                tuple(f"{name}: {words}" for name, words in meanings.items()),
                columns=("factor", "check", "figure", "threshold", "holds"),
                rows=rows,
            )
        ],
        n_shown=model._n_features_out,
        settings={"kinds": ", ".join(model.kinds_)},
        kinds=list(model.kinds_) if model.output == "angles" else [],
    )
