"""``unbraid probe``: what an encoder knows about the factors of a data set."""

from pathlib import Path
from typing import Annotated

import typer

from unbraid.cli.options import DatasetOptions, assignments, metrics_in


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
    dataset: Annotated[str, typer.Option(metavar="NAME", help="Data set with known factors, by its name.")],
    option: DatasetOptions = None,
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
    """Score existing encoders: every metric with interval, chance and ceiling, and probes of each factor."""
    import unbraid as ub
    from unbraid.cli.data import _size

    if codes != "all" and not (codes.isdecimal() and int(codes)):
        raise ValueError(f"--codes is {codes!r}; it must be a number of principal components, or all.")
    most = None if codes == "all" else int(codes)
    prepare = None if size is None else ub.probing.Preparation(size=_size(size))
    opened = [ub.probing.open_encoder(text, prepare) for text in encoders]
    names = [encoder.name for encoder in opened]
    if len(set(names)) < len(names):
        raise ValueError(f"encoders must have different names; received {', '.join(names)}. Rename a file.")
    data = ub.datasets.load(dataset, **assignments(option, "--option", "image_size=32"))
    settings = {"most_codes": most, "batch_size": batch_size, "cache": cache}
    chosen = None if metrics is None else metrics_in(metrics)
    if len(opened) == 1:
        result = ub.probe(opened[0], data, chosen or "all", **settings)
    else:
        result = ub.probing.compare(dict(zip(names, opened)), data, chosen or ("mig", "sap", "dci", "mcc"), **settings)
    typer.echo(str(result))
    if json is not None:
        result.to_json(json)
        typer.echo(f"Written: {json}")
    if out is not None:
        typer.echo(f"Written: {result.report().write(out)}")
