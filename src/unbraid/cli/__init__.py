"""The command line: parse, call the library, print. One file a command; nothing heavy loads before it runs.

Exit codes: 0 done; 1 a bug in this program; 2 an error that the user can correct, reported in one sentence; 130 Ctrl-C.
"""

import errno
import sys
import traceback
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from unbraid import __version__
from unbraid.cli.options import in_flags

ISSUES = "https://github.com/unbraid/unbraid/issues"
# Modules of this folder, in the order of the help page: a command is a function of that name, a group its COMMANDS.
COMMANDS = (
    "demo",
    "diagnose",
    "fit",
    "explore",
    "evaluate",
    "name",
    "probe",
    "study",
    "reproduce",
    "datasets",
    "explain",
    "doctor",
)
RUN_ALONE = (
    "demo",
    "reproduce",
    "explain",
    "doctor",
)  # the others show their help without arguments


class LazyCommands(TyperGroup):
    """Imports the module of a command when it is needed; the help page needs all."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All commands, in the order of the help page."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name, or None."""
        if cmd_name not in COMMANDS:
            return None
        module, alone = import_module(f"unbraid.cli.{cmd_name}"), cmd_name in RUN_ALONE
        is_group = hasattr(module, "COMMANDS")
        found = module.COMMANDS if is_group else {cmd_name: getattr(module, cmd_name)}
        one = typer.Typer(name=cmd_name, no_args_is_help=True, rich_markup_mode="rich", add_completion=False)
        one.info.help = getattr(module, "HELP", None)
        for name, command in found.items():
            one.command(name, no_args_is_help=not (is_group or alone))(command)
        return typer.main.get_command(one)


app = typer.Typer(
    name="unbraid",
    cls=LazyCommands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help=(
        "Recover the independent factors behind high-dimensional data, and say how far to trust them.\n\n"
        "New here? Run [bold]unbraid demo[/bold]: it draws 3000 images, finds their two factors in seconds and "
        "writes a report to open in a browser."
    ),
)


def _version(show: bool) -> None:
    if show:
        from unbraid.cli.doctor import versions

        typer.echo("\n".join([f"unbraid {__version__}", *versions()]))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the versions that matter."),
    ] = False,
) -> None: ...


def main() -> None:
    """Run the command line; an error that the user can correct is one sentence, not a traceback."""
    try:
        app()
    except (ValueError, TypeError, OSError, ModuleNotFoundError, FloatingPointError) as error:
        full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        remedy = ". Free some space, or write to another disk." if full else ""
        typer.secho(f"unbraid: {in_flags(str(error))}{remedy}", fg="red", err=True)
        sys.exit(2)
    except MemoryError as error:
        reason = f" ({error})" if str(error) else ""
        typer.secho(f"unbraid: out of memory{reason}. Use fewer rows or smaller images.", fg="red", err=True)
        sys.exit(2)
    except (KeyboardInterrupt, SystemExit) as stop:  # typer turns Ctrl-C into an exit with 130
        if isinstance(stop, KeyboardInterrupt) or stop.code == 130:
            typer.secho("unbraid: stopped. Results written so far are kept.", fg="yellow", err=True)
            sys.exit(130)
        raise
    except Exception as error:
        traceback.print_exc()
        bug = f"unbraid: this is a bug in unbraid {__version__} ({type(error).__name__}). Please report it"
        typer.secho(f"{bug} with the traceback above: {ISSUES}", fg="red", err=True)
        sys.exit(1)
