"""One image file to an array of its frames, with the values that it holds."""

import struct
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.runtime.extras import require

PLAIN = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".ppm", ".pgm")
TIFF, DICOM = (".tif", ".tiff"), (".dcm",)
VIDEO = (".mp4", ".avi", ".mov", ".mkv", ".webm")
ENDINGS = (*PLAIN, *TIFF, *DICOM, *VIDEO)
FRAMED = (".gif", ".webp", *TIFF, *DICOM, *VIDEO)  # may hold more than one
EXIF_ORIENTATION = 0x0112
PNG_BIT_DEPTH, PNG_COLOUR = 24, 25  # bytes of the header


class UnreadableError(ValueError):
    """A file that is no picture, is damaged, or is of a kind whose values would be changed by reading it."""


def decode(file: Any, name: str) -> np.ndarray:
    """All frames of a file: (frames, height, width) or (frames, height, width, channels), in the stored type.

    Whatever a decoder raises becomes one kind of error; a library that is missing is not the file's fault.
    """
    ending = Path(name).suffix.lower()
    special = {TIFF: _tiff, DICOM: _dicom, VIDEO: _video}
    try:
        return next((read for endings, read in special.items() if ending in endings), _plain)(file)
    except (ModuleNotFoundError, UnreadableError, MemoryError):
        raise
    except Exception as error:
        words = str(error).strip() or type(error).__name__
        if "imagecodecs" in words:
            raise ModuleNotFoundError(
                f"{name} is compressed in a way that needs imagecodecs. `pip install 'unbraid[images]'` brings it.",
                name="imagecodecs",
            ) from error
        raise UnreadableError(words.splitlines()[0].rstrip(".")) from error


def _plain(file: Any) -> np.ndarray:
    from PIL import Image, ImageSequence

    with Image.open(file) as image:
        if image.format == "PNG" and image.mode != "I;16":
            deep = _deep_png(file)
            if deep is not None:
                return upright(deep, _orientation(image))[None]
        if image.format == "PPM":
            _check_ppm(file)
        turn = _orientation(image)
        return np.stack([upright(_one(frame), turn) for frame in ImageSequence.Iterator(image)])


def _orientation(image: Any) -> int:
    """How a camera was held, by the picture's EXIF; 1, upright, where that says nothing or is damaged."""
    try:
        return int(image.getexif().get(EXIF_ORIENTATION, 1))
    except (SyntaxError, ValueError, TypeError, KeyError, OSError, struct.error):
        return 1


def upright(pixels: np.ndarray, orientation: int) -> np.ndarray:
    """A picture turned and mirrored as viewers show it, by its EXIF orientation from 1 to 8; others are left as is.

    >>> upright(np.array([[1, 2, 3]]), 6).tolist()
    [[1], [2], [3]]
    """
    if orientation in (2, 4, 5, 7):
        pixels = pixels[:, ::-1]
    quarter_turns = {3: 2, 4: 2, 5: 1, 6: -1, 7: -1, 8: 1}.get(orientation, 0)
    return np.rot90(pixels, quarter_turns)


def _one(image: Any) -> np.ndarray:
    """A Pillow image as an array; transparent parts over black."""
    mode = image.mode
    opaque = "transparency" not in image.info
    if mode in ("L", "I", "F") or mode.startswith("I;16") or (mode == "RGB" and opaque):
        return np.asarray(image)
    if mode == "1":
        return np.asarray(image.convert("L"))
    if mode in ("LA", "PA", "RGBA", "La", "RGBa") or not opaque:
        return over_black(np.asarray(image.convert("LA" if mode == "LA" else "RGBA")))
    return np.asarray(image.convert("RGB"))


def over_black(pixels: np.ndarray) -> np.ndarray:
    """Pixels whose last channel is opacity, laid over black; without that channel.

    >>> over_black(np.array([[[200, 100, 0, 255], [200, 100, 0, 51]]], np.uint8)).tolist()
    [[[200, 100, 0], [40, 20, 0]]]
    """
    colours, opacity = pixels[..., :-1], pixels[..., -1:]
    full = np.iinfo(pixels.dtype).max if pixels.dtype.kind in "ui" else 1
    if not (opacity == full).all():
        mixed = colours * (opacity.astype(np.float64) / full)
        colours = (np.rint(mixed) if pixels.dtype.kind in "ui" else mixed).astype(pixels.dtype)
    return colours[..., 0] if colours.shape[-1] == 1 else colours


def _bytes_of(file: Any) -> bytes:
    if isinstance(file, Path):
        return file.read_bytes()
    file.seek(0)
    return file.read()


def _deep_png(file: Any) -> np.ndarray | None:
    """A PNG with 16 bits a channel and colours or opacity, which Pillow would cut to 8 bits; None for all others."""
    data = _bytes_of(file)
    if data[PNG_BIT_DEPTH] != 16 or data[PNG_COLOUR] == 0:
        return None
    pixels = require("imagecodecs", "images").png_decode(data)
    return over_black(pixels) if pixels.shape[-1] in (2, 4) else pixels


def _check_ppm(file: Any) -> None:
    """Pillow stretches values to 0..255 or 0..65535 where a file says otherwise, and cuts colours to 8 bits."""
    words = b" ".join(line.partition(b"#")[0] for line in _bytes_of(file)[:1000].splitlines()).split()
    kind, largest = words[0], words[3] if len(words) > 3 else b"255"
    if kind not in (b"P1", b"P4") and not (largest == b"255" or (largest == b"65535" and kind in (b"P2", b"P5"))):
        raise UnreadableError(f"its largest value is {largest.decode()}; save it as PNG or TIFF to keep its values")


def _tiff(file: Any) -> np.ndarray:
    """Frames of a TIFF or OME-TIFF; axes other than height, width and channels are run through as frames."""
    import tifffile

    with tifffile.TiffFile(file) as tiff:
        series = tiff.series
        if len({(s.shape, s.dtype) for s in series}) > 1:
            shapes = ", ".join(str(s.shape) for s in series[:4])
            raise UnreadableError(f"it holds pictures of different sizes or types: {shapes}")
        opaque = not getattr(tiff.pages[0], "extrasamples", ())  # otherwise the last sample is opacity
        frames = [_frames(s.asarray(), s.axes, opaque) for s in series]
        return frames[0] if len(frames) == 1 else np.concatenate(frames)


def _frames(values: np.ndarray, axes: str, opaque: bool) -> np.ndarray:
    """(frames, height, width[, channels]) of an array whose axes have letters: Y, X; S or C are channels."""
    channels = [i for i, letter in enumerate(axes) if letter in "SC" and values.shape[i] > 1]
    if "Y" not in axes or "X" not in axes or len(channels) > 1:
        raise UnreadableError(f"it has the axes {axes}; height and width (Y, X) and at most one of channels are needed")
    place = [axes.index("Y"), axes.index("X"), *channels]
    rest = [i for i in range(values.ndim) if i not in place]
    shape = tuple(values.shape[i] for i in place)
    frames = np.transpose(values, rest + place).reshape(-1, *shape)
    is_samples = bool(channels) and axes[channels[0]] == "S"
    return over_black(frames) if is_samples and not opaque and shape[-1] in (2, 4) else frames


def _dicom(file: Any) -> np.ndarray:
    """Frames of a DICOM file, with its rescale slope and intercept (Hounsfield units in CT)."""
    pydicom = require("pydicom", "images")
    dataset = pydicom.dcmread(file)
    pixels = dataset.pixel_array
    if int(dataset.get("NumberOfFrames", 1)) == 1:
        pixels = pixels[None]
    slope, intercept = float(dataset.get("RescaleSlope", 1)), float(dataset.get("RescaleIntercept", 0))
    return pixels if (slope, intercept) == (1, 0) else (pixels * slope + intercept).astype(np.float32)


def _video(file: Any) -> np.ndarray:
    """All frames of a video, (frames, height, width, 3) bytes."""
    require("av", "images")
    iio = require("imageio.v3", "images")
    frames = iio.imread(file, plugin="pyav")
    if frames.ndim != 4 or not len(frames):
        raise UnreadableError("it holds no frames")
    return frames


def resized(picture: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """A picture brought to (height, width), in its own type."""
    from PIL import Image

    height, width = size
    if picture.dtype == np.uint8 and (picture.ndim == 2 or picture.shape[2] == 3):
        image = Image.fromarray(picture).resize((width, height), Image.Resampling.BICUBIC)
        return np.asarray(image)
    channels = picture[..., None] if picture.ndim == 2 else picture
    planes = [
        np.asarray(Image.fromarray(c.astype(np.float32)).resize((width, height), Image.Resampling.BICUBIC))
        for c in np.moveaxis(channels, -1, 0)
    ]
    values = np.stack(planes, axis=-1)
    if picture.dtype.kind in "ui":
        limits = np.iinfo(picture.dtype)
        values = np.clip(np.rint(values), limits.min, limits.max)
    values = values.astype(picture.dtype)
    return values[..., 0] if picture.ndim == 2 else values
