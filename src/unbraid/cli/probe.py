"""``unbraid probe``: what an encoder knows about the factors of a data set."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unbraid.cli.options import DatasetOptions, assignments, metrics_in

if TYPE_CHECKING:
    from unbraid.cli.data import Request


def probe(
    encoders: Annotated[
        list[str],
        typer.Argument(
            metavar="ENCODER...",
            help="An .onnx, .pt2 (torch.export) or .pt (TorchScript) file, a saved run, or a name: pixels, untrained, "
            "efficientnet-lite0 (-lite1, -lite2; or with :FILE.pth), timm:MODEL, open_clip:MODEL/WEIGHTS. Several are "
            "compared.",
        ),
    ],
    dataset: Annotated[
        str | None, typer.Option(metavar="NAME", help="Data set with known factors, by its name.")
    ] = None,
    option: DatasetOptions = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Your own data instead: a folder of images or a file, with --factors-from."),
    ] = None,
    factors_from: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAMES",
            help="The factors of --data: a table, matched by file name where it has them, or columns or arrays of the "
            "same file.",
        ),
    ] = None,
    key: Annotated[str | None, typer.Option(metavar="NAME", help="Which array of an .npz, .h5 or .zarr file.")] = None,
    resize: Annotated[str | None, typer.Option(metavar="HxW", help="Bring the images of --data to one size.")] = None,
    metrics: Annotated[
        str | None,
        typer.Option(help="Names separated by commas, or all. One encoder: all; several: mig, sap, dci and mcc."),
    ] = None,
    codes: Annotated[
        str,
        typer.Option(
            metavar="N",
            help="Number of principal components to score, for an encoder with more units; all scores the units.",
        ),
    ] = "32",
    size: Annotated[
        str | None, typer.Option(metavar="HEIGHTxWIDTH", help="Resize images before they are encoded.")
    ] = None,
    batch_size: Annotated[int, typer.Option(metavar="N", help="Rows per batch.")] = 64,
    cache: Annotated[
        Path | None, typer.Option(help="Folder to cache codes in, so that no encoder runs twice on the same rows.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the page to this .html file.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the result to this JSON file.")] = None,
) -> None:
    """Score existing encoders: every metric with interval, chance and ceiling, and probes of each factor.

    \b
    unbraid probe encoder.onnx pixels --dataset dsprites --out probe.html
    unbraid probe encoder.onnx pixels --data photos/ --factors-from labels.csv
    """
    import unbraid as ub
    from unbraid.cli.data import Request, _size

    if codes != "all" and not (codes.isdecimal() and int(codes)):
        raise ValueError(f"--codes is {codes!r}; it must be a number of principal components, or all.")
    most = None if codes == "all" else int(codes)
    prepare = None if size is None else ub.probing.Preparation(size=_size(size))
    opened = [ub.probing.open_encoder(text, prepare) for text in encoders]
    names = [encoder.name for encoder in opened]
    if len(set(names)) < len(names):
        raise ValueError(f"encoders must have different names; received {', '.join(names)}. Rename a file.")
    rows = _rows(dataset, option, data, Request(data or "", factors_from=factors_from, key=key, resize=resize))
    settings: dict[str, Any] = {"most_codes": most, "batch_size": batch_size, "cache": cache}
    chosen = None if metrics is None else metrics_in(metrics)
    if len(opened) == 1:
        result: Any = ub.probe(opened[0], rows, chosen or "all", **settings)
    else:
        result = ub.probing.compare(dict(zip(names, opened)), rows, chosen or ("mig", "sap", "dci", "mcc"), **settings)
    typer.echo(str(result))
    if json is not None:
        result.to_json(json)
        typer.echo(f"Written: {json}")
    if out is not None:
        typer.echo(f"Written: {result.report().write(out)}")


def _rows(dataset: str | None, option: list[str] | None, data: str | None, request: "Request") -> Any:
    """A data set by its name, or the user's own data with their factors."""
    import unbraid as ub
    from unbraid.cli.data import AUTO, read_data, show_decisions
    from unbraid.data.rows import Rows
    from unbraid.probing.codes import Drawn

    if (dataset is None) == (data is None):
        raise ValueError("give either --dataset NAME or --data DATA with --factors-from TABLE.")
    if dataset is not None:
        if request.factors_from is not None or request.key is not None or request.resize is not None:
            raise ValueError("--factors-from, --key and --resize are for --data; a data set has its own factors.")
        return ub.datasets.load(dataset, **assignments(option, "--option", "image_size=32"))
    if option:
        raise ValueError("--option is for --dataset.")
    if request.factors_from is None or not Path(request.data).exists():
        raise ValueError(f"--data {data}: it must be a file or folder, with its factors by --factors-from.")
    read = read_data(request, AUTO)
    show_decisions(request.data, read)
    return Drawn(Path(request.data).name, Rows(read.known), read.known.factors, tuple(read.factor_names))
