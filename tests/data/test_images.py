"""Images as labs have them: what is read is what was stored, every frame of it, and what cannot be kept is refused."""

import io
import struct
import tarfile
import zlib

import numpy as np
import pytest
import tifffile
from PIL import Image

import unbraid as ub
from tests.facts import facts
from unbraid import datasets

RNG = np.random.default_rng(0)
DEEP = RNG.integers(0, 65536, (7, 6, 5), dtype=np.uint16)
COLOUR = RNG.integers(0, 256, (7, 6, 5, 3), dtype=np.uint8)


def png(pixels):
    """A PNG with 16 bits a channel, written by hand: Pillow writes none with colours."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, channels = pixels.shape
    lines = b"".join(b"\0" + row.astype(">u2").tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 16, {2: 4, 3: 2, 4: 6}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("ending", ["tif", "tiff"])
def test_a_stack_gives_every_frame_with_its_values(tmp_path, dtype, ending):
    stack = DEEP.astype(dtype)
    tifffile.imwrite(tmp_path / f"a.{ending}", stack)
    found = datasets.open(tmp_path / f"a.{ending}")
    assert (found.shape, found.dtype) == (stack.shape, np.dtype(dtype))
    np.testing.assert_array_equal(found[:], stack)


def test_deep_pictures_keep_their_values(tmp_path):
    for i, picture in enumerate(DEEP):
        Image.fromarray(picture).save(tmp_path / f"{i}.png")
    found = datasets.open(tmp_path)
    assert found.dtype == np.uint16
    np.testing.assert_array_equal(found[:], DEEP)
    np.testing.assert_allclose(datasets.open(tmp_path, divide=4095)[:], DEEP / 4095, rtol=1e-6)
    model = ub.PCAICA(2, random_state=0).fit(found)
    assert model.unit_ == 1, "counts are numbers, and have no unit of their own"
    assert np.abs(model.inverse_transform(model.transform(found)) - DEEP).mean() < 65535 / 3


def test_deep_colour_and_opacity(tmp_path):
    colour = RNG.integers(0, 65536, (6, 5, 3), dtype=np.uint16)
    (tmp_path / "a.png").write_bytes(png(colour))
    np.testing.assert_array_equal(datasets.open(tmp_path / "a.png")[0], colour)
    half = np.full((6, 5, 1), 13107, np.uint16)  # a fifth of 65535
    (tmp_path / "b.png").write_bytes(png(np.concatenate([colour, half], axis=2)))
    np.testing.assert_allclose(datasets.open(tmp_path / "b.png")[0], colour / 5, atol=0.5)


def test_axes_of_ome_tiff(tmp_path):
    """Time and depth are run through as frames, channels come last."""
    values = RNG.integers(0, 4096, (2, 3, 4, 6, 5), dtype=np.uint16)  # T C Z Y X
    tifffile.imwrite(tmp_path / "a.ome.tif", values, metadata={"axes": "TCZYX"}, photometric="minisblack")
    found = datasets.open(tmp_path / "a.ome.tif")
    np.testing.assert_array_equal(found[:], values.transpose(0, 2, 3, 4, 1).reshape(8, 6, 5, 3))


def test_gif_and_video_give_every_frame(tmp_path):
    grey = [Image.fromarray(np.full((6, 5), 30 * i, np.uint8)) for i in range(7)]
    grey[0].save(tmp_path / "a.gif", save_all=True, append_images=grey[1:])
    found = datasets.open(tmp_path / "a.gif")
    assert len(found) == 7
    np.testing.assert_array_equal(found[:].reshape(7, -1)[:, 0], np.arange(7) * 30)
    iio = pytest.importorskip("imageio.v3")
    frames = np.repeat((np.arange(7) * 30)[:, None, None, None], 3, axis=3).astype(np.uint8) * np.ones((1, 32, 32, 1))
    iio.imwrite(tmp_path / "a.mp4", frames.astype(np.uint8), plugin="pyav", codec="libx264", fps=10)
    video = datasets.open(tmp_path / "a.mp4")
    assert video.shape == (7, 32, 32, 3)
    np.testing.assert_allclose(video[:].mean(axis=(1, 2, 3)), np.arange(7) * 30, atol=3)


def test_dicom(tmp_path):
    pydicom = pytest.importorskip("pydicom")
    from pydicom.dataset import FileDataset, FileMetaDataset

    meta = FileMetaDataset()
    meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    meta.MediaStorageSOPClassUID = pydicom.uid.CTImageStorage
    meta.MediaStorageSOPInstanceUID = pydicom.uid.generate_uid()
    file = FileDataset(None, {}, file_meta=meta, preamble=b"\0" * 128)
    file.Rows, file.Columns, file.NumberOfFrames = 6, 5, 7
    file.SamplesPerPixel, file.PhotometricInterpretation = 1, "MONOCHROME2"
    file.BitsAllocated, file.BitsStored, file.HighBit, file.PixelRepresentation = 16, 12, 11, 0
    file.RescaleSlope, file.RescaleIntercept = 2, -1024
    file.PixelData = (DEEP % 4096).tobytes()
    file.save_as(tmp_path / "a.dcm", enforce_file_format=True)
    np.testing.assert_array_equal(datasets.open(tmp_path / "a.dcm")[:], (DEEP % 4096) * 2.0 - 1024)


def test_opacity_palettes_and_cmyk(tmp_path):
    opaque = np.concatenate([COLOUR, np.full((7, 6, 5, 1), 255, np.uint8)], axis=3)
    Image.fromarray(opaque[0]).save(tmp_path / "0.png")
    clear = opaque[1].copy()
    clear[0, 0, 3] = 0
    Image.fromarray(clear).save(tmp_path / "1.png")
    Image.fromarray(COLOUR[2]).quantize(200).save(tmp_path / "2.png")
    Image.fromarray(COLOUR[3]).convert("CMYK").save(tmp_path / "3.tif")
    found = datasets.open(tmp_path / "0.png"), datasets.open(tmp_path / "1.png"), datasets.open(tmp_path / "2.png")
    np.testing.assert_array_equal(found[0][0], COLOUR[0])
    assert found[1][0][0, 0].tolist() == [0, 0, 0]
    np.testing.assert_array_equal(found[1][0][1:], COLOUR[1][1:])
    assert found[2].shape == (1, 6, 5, 3)


def test_kinds_that_do_not_mix(tmp_path):
    Image.fromarray(DEEP[0]).save(tmp_path / "0.png")
    Image.fromarray(COLOUR[0, :, :, 0]).save(tmp_path / "1.png")
    with pytest.raises(ValueError, match=facts("0.png", "uint16", "1.png", "uint8")):
        datasets.open(tmp_path)[:]


def test_resizing_keeps_type_and_values(tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", np.full((3, 8, 8), 40_000, np.uint16), photometric="minisblack")
    small = datasets.open(tmp_path / "a.tif", resize=(4, 2))
    assert (small.shape, small.dtype) == ((3, 4, 2), np.uint16)
    assert (small[:] == 40_000).all()


def test_too_large_and_broken_pictures_are_a_sentence_and_can_be_left_out(tmp_path, monkeypatch):
    for i in range(4):
        Image.fromarray(COLOUR[i]).save(tmp_path / f"{i}.png")
    tifffile.imwrite(tmp_path / "4.tif", COLOUR[4])
    (tmp_path / "4.tif").write_bytes((tmp_path / "4.tif").read_bytes()[:60])
    with pytest.raises(ValueError, match=facts("4.tif", "skip_unreadable=True")):
        datasets.open(tmp_path)[:]
    assert len(datasets.open(tmp_path, skip_unreadable=True)) == 4
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    with pytest.raises(ValueError, match=facts("0.png", "30 pixels", "20 pixels")):
        datasets.open(tmp_path / "0.png")


def test_pixel_maps_that_would_be_stretched_are_refused(tmp_path):
    (tmp_path / "a.pgm").write_bytes(b"P5\n2 1\n4095\n" + np.array([5, 4095], ">u2").tobytes())
    with pytest.raises(ValueError, match=facts("a.pgm", 4095, "TIFF")):
        datasets.open(tmp_path / "a.pgm")
    (tmp_path / "a.pgm").write_bytes(b"P5\n2 1\n255\n" + bytes([5, 255]))
    assert datasets.open(tmp_path / "a.pgm")[0].tolist() == [[5, 255]]


def test_a_name_that_a_tar_holds_twice(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for picture in COLOUR[:2]:
            data = io.BytesIO()
            Image.fromarray(picture).save(data, "png")
            member = tarfile.TarInfo("same.png")
            member.size = data.tell()
            data.seek(0)
            archive.addfile(member, data)
    with pytest.raises(ValueError, match=facts("a.tar", "same.png")):
        datasets.open(tmp_path / "a.tar")
