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
    typer.Option(
        metavar="A,B", help="Columns of a table that are data; default all but factors and what is known of rows."
    ),
]
DIVIDE = Annotated[
    float | None, typer.Option(metavar="N", help="Divide all values by N: 4095 brings 12-bit pictures to [0, 1].")
]

# What is known about the rows: a .npy, .npz or .csv file, or an array or column of the same file by its name.
LABELS = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|NAME",
        help="Condition of each row: a .npy, .npz or .csv file, or an array or column of the same file by its name. A "
        "data set with labels brings its own.",
    ),
]
PAIRS = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|NAME",
        help="Rows that share all factors but one or a few: two row numbers (from 0) a line, or a column that "
        "is the same for both rows of a pair.",
    ),
]
TIME = Annotated[str | None, typer.Option(metavar="FILE|NAME", help="When each row was observed: numbers or dates.")]
SETS = Annotated[
    str | None, typer.Option(metavar="FILE|NAME", help="Which set each row belongs to: augmentations of one point.")
]
COVARIATES = Annotated[
    str | None, typer.Option(metavar="FILE|NAMES", help="What else was measured with each row: columns or arrays.")
]


def evidence_of(**options: str | None) -> dict[str, str]:
    """Where each piece of evidence is that was given."""
    return {name: where for name, where in options.items() if where is not None}
