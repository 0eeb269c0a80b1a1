"""The argument DATA and the options that say how it is read: the same in every command that reads data."""

from typing import Annotated

import typer

DATA = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="An array file (.npy, .npz, .h5, .zarr, .mat, .h5ad, .nc), a table (.csv, .tsv, .parquet, .feather, "
        ".xlsx), a folder (or .tar) of images, an image stack or video, or the name of a data set. Rows are "
        "observations.",
    ),
]
KEY = Annotated[str | None, typer.Option(metavar="NAME", help="Which array of an .npz, .h5 or .zarr file.")]
POINTS = Annotated[int | None, typer.Option(help="Observations to draw from a data set; default 3000.")]
OPTION = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="Option of a data set as name=value, for instance image_size=32."),
]
RESIZE = Annotated[str | None, typer.Option(metavar="HxW", help="Bring images to one size, height x width.")]
SKIP_UNREADABLE = Annotated[bool, typer.Option("--skip-unreadable", help="Leave out images that cannot be read.")]
COLUMNS = Annotated[
    str | None,
    typer.Option(metavar="A,B", help="Columns of a table that are data; default all but labels and factors."),
]
DIVIDE = Annotated[
    float | None, typer.Option(metavar="N", help="Divide all values by N: 4095 brings 12-bit pictures to [0, 1].")
]
