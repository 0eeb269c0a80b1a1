"""From rows to what a browser draws, and from what a user drops there to a row."""

import io
import json
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.report.drawing import is_pictures, picture_shape

FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
MEDIA_TYPES = ("image/png", "application/json")  # of pictures, and of curves
MOST_PIXELS = 40_000_000  # of a picture that is uploaded: beyond, a small file may unpack to gigabytes


class UnreadableError(ValueError):
    """What was uploaded is no picture, or no list of numbers, that fits the data."""


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
        n, height, width = pictures.shape[:3]
        columns = math.ceil(math.sqrt(n))
        n_lines = math.ceil(n / columns)
        grid = np.zeros((n_lines * columns, *pictures.shape[1:]), np.uint8)
        grid[:n] = pictures
        order = (0, 2, 1, 3) + tuple(range(4, grid.ndim + 1))
        grid = grid.reshape(n_lines, columns, *pictures.shape[1:]).transpose(order)
        file = io.BytesIO()
        Image.fromarray(grid.reshape(n_lines * height, columns * width, *pictures.shape[3:])).save(
            file, "PNG", compress_level=1
        )
        return file.getvalue()

    def answer(self, rows: ArrayLike) -> tuple[bytes, str]:
        """What is sent to the page, and its media type: a sheet of pictures, or curves."""
        if self.is_picture:
            return self.sheet(rows), MEDIA_TYPES[0]
        return json.dumps({"curves": self.curves(rows)}, separators=(",", ":")).encode(), MEDIA_TYPES[1]

    def curves(self, rows: ArrayLike) -> list[list[float]]:
        """Values (n, features) to six figures, as JSON takes them."""
        values = np.asarray(rows, np.float64)
        return [[float(f"{v:.6g}") for v in row] for row in values.reshape(len(values), -1)]

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
                        f"the picture has {image.width} x {image.height} pixels; {MOST_PIXELS // 10**6} million are the"
                        " most that is taken. Make it smaller first."
                    )
                picture = image.convert(mode)
                if picture.size != (width, height):
                    picture = picture.resize((width, height), Image.Resampling.BICUBIC)
        except (UnidentifiedImageError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
            raise UnreadableError(
                f"this is no picture that can be read. Formats: {', '.join(FORMATS)}, of at most "
                f"{MOST_PIXELS // 10**6} million pixels."
            ) from error
        except (OSError, SyntaxError, EOFError) as error:
            raise UnreadableError(f"the picture is damaged ({error}). Save it again, or take another.") from error
        values = np.asarray(picture, np.float32) / np.float32(255)
        return (np.float32(self.low) + values * np.float32(self.high - self.low)).reshape(self.shape)

    def _numbers_of(self, upload: bytes) -> NDArray[np.float32]:
        wanted = int(np.prod(self.shape))
        try:
            words = upload.decode("utf-8-sig").replace(",", " ").replace(";", " ").split()
            values = np.array(words, np.float64)
        except ValueError:
            raise UnreadableError(
                f"this is no text of numbers. Give {wanted} numbers, apart by commas, spaces or lines."
            ) from None
        if len(values) != wanted or not np.isfinite(values).all():
            raise UnreadableError(f"the file holds {len(values)} numbers; an observation has {wanted}, all finite.")
        return values.astype(np.float32).reshape(self.shape)
