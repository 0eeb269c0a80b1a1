"""``unbraid explain``: the page of a warning, offline."""

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(explain)


def explain(
    codes: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CODE]...", help="Codes of warnings, such as UB203; none lists them all."),
    ] = None,
) -> None:
    """Explain a warning by its code: its cause, what to do, and when to ignore it.

    \b
    unbraid explain UB203
    unbraid explain UB202 UB204
    unbraid explain              (all codes)
    """
    from unbraid.trust.codes import CODES
    from unbraid.trust.explain import explain as explained
    from unbraid.trust.explain import sentence
    from unbraid.trust.warnings import KINDS

    if codes:
        typer.echo("\n\n".join(explained(code) for code in codes))
        return
    for start, kind in KINDS.items():
        typer.echo(f"{kind.__name__}: {(kind.__doc__ or '').splitlines()[0]}")
        for code in CODES:
            if code.startswith(start):
                typer.echo(f"  {code}  {sentence(code)}")
