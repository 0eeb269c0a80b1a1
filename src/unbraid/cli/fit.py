"""``unbraid fit``: the factors of a file, a folder of images or a data set, saved as a run with a report."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unbraid.cli.data import Request, read_data, reads_data, show_decisions
from unbraid.cli.options import AUTO, OFFERED, PARAMETERS, Assigned, assignments, number, offered, parameters_of

if TYPE_CHECKING:
    from unbraid.data.observations import Observations
    from unbraid.diagnosis.fitting import Plan


@reads_data
def fit(
    method: Annotated[
        str, typer.Option(metavar="NAME", help=f"auto (what the diagnosis recommends), or one of {', '.join(OFFERED)}.")
    ] = AUTO,
    factors: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Number of factors, or auto (the default) to estimate it; networks do not estimate it, and auto is "
            "their own default (VAEs: 10 codes).",
        ),
    ] = None,
    neighbors: Annotated[
        str | None, typer.Option(metavar="K", help="Points in a neighbourhood, or auto (the default) to choose.")
    ] = None,
    landmarks: Annotated[
        str | None, typer.Option(metavar="N", help="Points in the eigenproblem: a number, all, or auto (the default).")
    ] = None,
    trust: Annotated[
        str | None,
        typer.Option(
            metavar="cheap|full",
            help="full repeats the fit on halves of the data and with other seeds, settings and methods: twice as "
            "slow, with a given --neighbors eight times.",
        ),
    ] = None,
    outliers: Annotated[
        str | None,
        typer.Option(
            metavar="clip|nan|keep",
            help="Rows that do not belong to the rest are left out of the fit, and their codes kept within the range "
            "of the others (the default) or NaN; keep fits all rows alike.",
        ),
    ] = None,
    units: Annotated[
        str | None,
        typer.Option(metavar="auto|given", help="Whether columns in other units are scaled (the default)."),
    ] = None,
    counts: Annotated[
        str | None,
        typer.Option(
            metavar="auto|depth|given",
            help="Whether counts are seen as square roots (the default), after rows were brought to one total (depth).",
        ),
    ] = None,
    augment: Annotated[
        str | None, typer.Option(metavar="NAME", help="Augmentation, for self-supervised-gin: affine.")
    ] = None,
    steps: Annotated[int | None, typer.Option(metavar="N", help="Maximum number of training steps.")] = None,
    max_seconds: Annotated[
        float | None, typer.Option(metavar="S", help="Stop training after this time; the same command resumes it.")
    ] = None,
    device: Annotated[str | None, typer.Option(metavar="NAME", help="Where to train: auto, cpu, cuda, ...")] = None,
    assigned: Assigned = None,
    out: Annotated[
        Path | None, typer.Option(metavar="RUN", help="Folder to write the run to; default runs/DATA-METHOD.")
    ] = None,
    *,
    request: Request,
    factors_from: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAMES",
            help="Known factors to score the codes by: columns or arrays of the same file, or a file; name:circle for "
            "an angle in radians, file:circle:interval for the columns of a file.",
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object to standard output, and nothing else.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    open_: Annotated[bool, typer.Option("--open", help="Open the run in the explorer afterwards.")] = False,
) -> None:
    """Find the factors of your data, and save the model, the codes and a report.

    \b
    unbraid fit spectra.npy --factors 3 --out run
    unbraid fit photos/ --factors auto --resize 64x64 --out run
    unbraid fit shapes-xy --points 2000 --option image_size=32 --out run
    unbraid fit spectra.csv --columns a,b,c --factors-from temperature --out run
    unbraid fit stack.tif --divide 4095 --method vae --out run
    unbraid fit cells.npz --key counts --method gin --labels batch --out run
    unbraid fit frames.npy --method hessian-ica --time seconds.csv --out run
    unbraid fit photos/ --method beta-tcvae --steps 5000 --out run     (after Ctrl-C, the same command resumes it)
    """
    from unbraid.cli.outcome import About, default_run, free, print_outcome, record, save_run
    from unbraid.diagnosis.fitting import rotated
    from unbraid.report.fitted import measured_fit
    from unbraid.report.pages import in_words
    from unbraid.runtime.progress import progress_style

    given: dict[str, Any] = {
        "--factors": None if factors is None else number(factors, "--factors", "auto"),
        "--neighbors": None if neighbors is None else number(neighbors, "--neighbors", "auto"),
        "--landmarks": None if landmarks is None else number(landmarks, "--landmarks", "auto", "all"),
        "--trust": trust, "--outliers": outliers, "--units": units, "--counts": counts,
        "--steps": steps, "--max-seconds": max_seconds, "--device": device, "--augment": augment,
    }  # fmt: skip
    if method != AUTO:
        offered(method)
        parameters_of(method, given, assigned or [])  # refused before any time is spent
    data = request.data
    run = free(default_run(data, method) if out is None else out)
    with progress_style("off" if quiet else "lines"):
        read, plan = read_data(replace(request, factors_from=factors_from), method), None
        known, further, talks = read.known, dict[str, Any](), not (json or quiet)
        if talks:
            show_decisions(data, read)
        if method == AUTO:
            plan, further = _planned(known, given, assigned or [], show=talks)
            known, method = plan.known, plan.diagnosis.method
        chosen = OFFERED[method]
        parameters = further | parameters_of(method, given, assigned or [])
        estimator = _estimator(method, run, rotated(method, known, parameters), request.seed)
        if plan and plan.start is not None:
            estimator.continue_from(plan.start)
        if talks:
            typer.echo(f"{chosen.title} of {data}: {len(known)} observations of {in_words(known.shape[1:])}")
        fitted = measured_fit(
            estimator, known, factors=known.factors, factor_names=read.factor_names, factor_kinds=read.factor_kinds
        )
    diagnosis = None
    if plan:
        plan.note_on(fitted.model)
        diagnosis = plan.diagnosis
        fitted = replace(fitted, concerns=[*diagnosis.doubts, *fitted.concerns])
    about = About(data, method, read.decisions, read.columns)
    save_run(run, fitted, about, diagnosis)
    unfinished = chosen.trained and str(fitted.model.stopped_).startswith("max_seconds")
    if chosen.trained and not unfinished:
        _checkpoint(run).unlink(missing_ok=True)
    if json:
        typer.echo(record(fitted, run, about, diagnosis))
    elif not quiet:
        print_outcome(fitted, run, diagnosis.doubts if diagnosis else ())
        if unfinished:
            typer.echo(f"Stopped by --max-seconds. Resume with the same command; checkpoint: {_checkpoint(run)}")
    if open_:
        from unbraid.cli.explore import explore

        explore([run])


def _planned(
    known: "Observations", given: dict[str, Any], assigned: list[str], *, show: bool
) -> tuple["Plan", dict[str, Any]]:
    """What the diagnosis recommends among the methods that take the options given, and the parameters that it adds to
    these; ``show`` prints the answer."""
    from unbraid.diagnosis.fitting import plan_of

    wanted = {PARAMETERS[option]: value for option, value in given.items() if value is not None}
    wanted |= assignments(assigned, "--set", "tol=0.01")
    plan = plan_of(known, given["--factors"] or "auto", wanted)
    further = {name: value for name, value in plan.settings.items() if name not in wanted}
    if plan.n_factors != "auto":
        further.setdefault("n_factors", plan.n_factors)
    if show:
        found = plan.diagnosis
        colour = {"yes": "green", "no": "red"}.get(found.verdict, "yellow")
        typer.secho(found.answer, fg=colour, bold=found.verdict == "no")
        for reason in found.reasons:
            typer.echo(reason)
    return plan, further


def _estimator(method: str, run: Path, parameters: dict[str, Any], seed: int) -> Any:
    """With the defaults of the command line: an estimated number of factors, and checkpoints while training."""
    cls, defaults = OFFERED[method].load(), dict[str, Any](n_factors="auto")
    if OFFERED[method].trained:
        defaults = {"checkpoint": _checkpoint(run), "checkpoint_every": 200}
    if parameters.get("n_landmarks") == "all":
        parameters["n_landmarks"] = None
    known = cls().get_params(deep=False)
    return cls(**{k: v for k, v in defaults.items() if k in known} | parameters, random_state=seed)


def _checkpoint(run: Path) -> Path:
    return run.with_name(f"{run.name}.training.safetensors")
