"""One model as the page sees it: encode, decode, and how its rows are drawn in a browser."""

import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.app.kept import MEDIA_TYPES, Names
from unbraid.data.sources import Blocks
from unbraid.estimator.base import Estimator
from unbraid.estimator.summary import Summary
from unbraid.report.drawing import in_grid, is_pictures, picture_shape, tiled
from unbraid.report.traversal import shown_codes
from unbraid.saving.persistence import load

FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
MOST_PIXELS = 40_000_000  # of a picture that is uploaded: beyond, a small file may unpack to gigabytes


class UnreadableError(ValueError):
    """An upload that is not an image, or not a list of numbers, of the right size."""

    status = 415  # of the answer to it


@dataclass(frozen=True)
class Look:
    """How rows of one shape are shown: as pictures or curves, and which values are black and white (or the range).

    Attributes
    ----------
    shape : tuple of int
        Of a row.
    low, high : float
        Values drawn black and white, or at the foot and the head of a panel of curves.
    """

    shape: tuple[int, ...]
    low: float
    high: float

    @classmethod
    def of(cls, rows: NDArray) -> "Look":
        """The look of data: [0, 1] and 0..255 are kept for pictures; any other range is stretched."""
        shape, low, high = tuple(rows.shape[1:]), float(rows.min()), float(rows.max())
        if is_pictures(shape):
            if low >= 0 and high <= 1:
                low, high = 0.0, 1.0
            elif low >= 0 and 2 < high <= 255:
                low, high = 0.0, 255.0
        return cls(shape, low, high if high > low else low + 1)

    @property
    def is_picture(self) -> bool:
        return is_pictures(self.shape)

    def shades(self, rows: ArrayLike) -> NDArray[np.uint8]:
        """Bytes (n, height, width[, channels]) of pictures."""
        values = np.asarray(rows, np.float64).reshape(-1, *picture_shape(self.shape))
        return np.round(255 * np.clip((values - self.low) / (self.high - self.low), 0, 1)).astype(np.uint8)

    def sheet(self, rows: ArrayLike) -> bytes:
        """A PNG of pictures, row by row in a grid of ceil(sqrt(n)) columns."""
        from PIL import Image

        pictures = self.shades(rows)
        grid = in_grid(pictures, math.ceil(math.sqrt(len(pictures))), 0)
        file = io.BytesIO()
        Image.fromarray(tiled(grid)).save(file, "PNG", compress_level=1)
        return file.getvalue()

    def answer(self, rows: ArrayLike) -> tuple[bytes, str]:
        """What is sent to the page, and its media type: a sheet of pictures, or curves."""
        if self.is_picture:
            return self.sheet(rows), MEDIA_TYPES[0]
        values = np.asarray(rows, np.float64)
        curves = [[float(f"{v:.6g}") for v in row] for row in values.reshape(len(values), -1)]
        return json.dumps({"curves": curves}, separators=(",", ":")).encode(), MEDIA_TYPES[1]

    def row_of(self, upload: bytes) -> NDArray[np.float32]:
        """The row (1, ...) that a file stands for: a picture, brought to size, or a text of numbers."""
        return (self._picture_of(upload) if self.is_picture else self._numbers_of(upload))[None]

    def _picture_of(self, upload: bytes) -> NDArray[np.float32]:
        from PIL import Image, UnidentifiedImageError

        height, width = self.shape[:2]
        mode = {2: "L"}.get(len(picture_shape(self.shape))) or {3: "RGB", 4: "RGBA"}[self.shape[2]]
        try:
            with Image.open(io.BytesIO(upload), formats=FORMATS) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise UnreadableError(
                        f"the image has {image.width} x {image.height} pixels; at most {MOST_PIXELS // 10**6} million "
                        "are allowed. Make it smaller first."
                    )
                picture = image.convert(mode)
                if picture.size != (width, height):
                    picture = picture.resize((width, height), Image.Resampling.BICUBIC)
        except (UnidentifiedImageError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
            raise UnreadableError(
                f"the file is not a readable image. Formats: {', '.join(FORMATS)}, of at most "
                f"{MOST_PIXELS // 10**6} million pixels."
            ) from error
        except (OSError, SyntaxError, EOFError) as error:
            raise UnreadableError(f"the image is damaged ({error}). Save it again, or choose another.") from error
        values = np.asarray(picture, np.float32) / np.float32(255)
        return (np.float32(self.low) + values * np.float32(self.high - self.low)).reshape(self.shape)

    def _numbers_of(self, upload: bytes) -> NDArray[np.float32]:
        wanted = int(np.prod(self.shape))
        try:
            words = upload.decode("utf-8-sig").replace(",", " ").replace(";", " ").split()
            values = np.array(words, np.float64)
        except ValueError:
            raise UnreadableError(
                f"the file is not a list of numbers. Give {wanted} numbers, separated by commas, spaces or lines."
            ) from None
        if len(values) != wanted or not np.isfinite(values).all():
            raise UnreadableError(f"the file holds {len(values)} numbers; an observation has {wanted}, all finite.")
        return values.astype(np.float32).reshape(self.shape)


Encode = Callable[[Any], ArrayLike]
Decode = Callable[[Any], ArrayLike]
MOST_SHOWN = 12  # sliders for a pair of functions, for which it is not known which codes matter


@dataclass(frozen=True)
class View:
    """A model, or a pair of functions, to look at.

    Attributes
    ----------
    name : str
        Distinguishes it from the others on the page.
    encode : callable
        From rows (n, ...) to codes (n, d).
    decode : callable or None
        Back to rows; None where there is no way back, and real examples are shown.
    summary : Summary
    features : sequence of str or None
        Names of the columns of the data.
    names : Names
    folder : Path or None
        Of a saved run.
    """

    name: str
    encode: Encode
    decode: Decode | None
    summary: Summary
    features: Sequence[str] | None = None
    names: Names = field(default_factory=Names)
    folder: Path | None = None

    def shown(self, codes: NDArray) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The codes that get a slider, and their reach: those that the model recommends, the farthest first."""
        which = shown_codes(codes, self.summary.order, self.summary.n_shown)
        reach = self.reach(codes, which)
        order = np.argsort(-reach, kind="stable")
        return which[order], reach[order]

    def reach(self, codes: NDArray, which: NDArray[np.intp]) -> NDArray[np.float64]:
        """How far the decoded data move (root mean square) as a code goes from its 10th to its 90th percentile."""
        if self.decode is None:
            return np.full(len(which), np.nan)
        points = np.tile(np.median(codes, axis=0), (2 * len(which), 1))
        low, high = np.quantile(codes, [0.1, 0.9], axis=0)
        for i, code in enumerate(which):
            points[2 * i, code], points[2 * i + 1, code] = low[code], high[code]
        decoded = np.asarray(self.decode(points), np.float64).reshape(len(which), 2, -1)
        return np.sqrt(np.square(decoded[:, 1] - decoded[:, 0]).mean(axis=1))


def view_of(model: Any, name: str = "") -> View:
    """Of a fitted estimator, of the folder of a run, or of a pair (encode, decode) of functions.

    Parameters
    ----------
    model : Estimator, path, or (encode, decode)
        ``decode`` may be None.
    name : str
        The method's where left out.
    """
    if isinstance(model, str | Path):
        return view_of_run(Path(model))
    if isinstance(model, Estimator):
        summary = model.summary()
        if not summary.n_shown:
            raise ValueError(
                f"{summary.title} finds no codes, so there is nothing to explore. Write its report with "
                "unbraid.report.fit_report(model, X).write('report.html')."
            )
        fitted: Any = model  # ``summary().decodes`` says whether there is an inverse_transform
        decode = _in_single_precision(fitted.inverse_transform) if summary.decodes else None
        diagnosis = getattr(model, "diagnosis_", None)
        if diagnosis is not None:  # its doubts about the data stand first
            summary = replace(summary, concerns=[*diagnosis.doubts, *summary.concerns])
        features = getattr(model, "feature_names_in_", None)
        encode = (
            fitted.transform if features is None else lambda rows: fitted.transform(Blocks([rows]))
        )  # without names
        return View(name or summary.title, encode, decode, summary, features)
    if isinstance(model, tuple) and len(model) == 2 and callable(model[0]) and (model[1] is None or callable(model[1])):
        encode, decode = model
        title = "encoder" if decode is None else "encoder and decoder"
        note = "A pair of functions; how its codes were found is not known."
        summary = Summary(title, [], note=note, n_shown=MOST_SHOWN, decodes=decode is not None)
        return View(name or title, encode, decode, summary)
    raise TypeError(
        f"cannot explore a {type(model).__name__}. Give a fitted estimator of unbraid, or a pair of functions (encode, "
        "decode), for instance (pca.transform, pca.inverse_transform); decode may be None."
    )


def _in_single_precision(decode: Decode) -> Decode:
    """A flow computes in the precision of its codes; in double it would copy all of its weights for every frame."""
    return lambda codes: decode(np.asarray(codes, np.float32))


def view_of_run(folder: Path) -> View:
    """Of a run that ``unbraid fit`` or ``save`` wrote."""
    model = load(folder)
    if not isinstance(model, Estimator):
        raise TypeError(f"{folder} holds a {type(model).__name__}; the explorer shows estimators.")
    return replace(view_of(model, folder.resolve().name), names=Names(folder), folder=folder)


def title_of_view(view: View) -> str:
    """The method, and the run's name where it says more.

    >>> title_of_view(view_of((abs, None), "mine"))
    'encoder (mine)'
    """
    return view.summary.title if view.name == view.summary.title else f"{view.summary.title} ({view.name})"
