"""``unbraid explain``: the page of a warning or a figure, offline."""

from typing import Annotated

import typer


def explain(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Warnings, such as UB203, or figures, such as eigengap; lists all by default."
        ),
    ] = None,
) -> None:
    """Explain a warning by its code, or a figure by its name: what it means, its threshold, and what to do.

    \b
    unbraid explain UB203
    unbraid explain UB202 eigengap
    unbraid explain              (all warnings and figures)
    """
    from unbraid.trust.explain import explain as explained
    from unbraid.trust.explain import sentence
    from unbraid.trust.table import FIGURES
    from unbraid.trust.warnings import CODES, KINDS, kind_of

    if names:
        typer.echo("\n\n".join(explained(name) for name in names))
        return
    for kind in dict.fromkeys(KINDS.values()):
        typer.echo(f"{kind.__name__}: {(kind.__doc__ or '').splitlines()[0]}")
        for code in CODES:
            if kind_of(code) is kind:
                typer.echo(f"  {code}  {sentence(code)}")
    typer.echo("Figures:")
    for key, figure in FIGURES.items():
        typer.echo(f"  {key}  {figure.meaning}")
