"""Codes, factors and strips as content-addressed bytes: written completely or not at all, and checked when read."""

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from unbraid.saving.persistence import written_whole


def sha256(data: bytes) -> str:
    """The address of bytes."""
    return hashlib.sha256(data).hexdigest()


class Folder:
    """Artefacts as files ``ab/abcd...`` of a folder."""

    def __init__(self, root: Path):
        self.root = root

    def _path(self, address: str) -> Path:
        return self.root / address[:2] / address

    def put(self, data: bytes) -> str:
        """Store the bytes; a kill or a full disk leaves no partial file under their address."""
        address = sha256(data)
        path = self._path(address)
        if path.exists():
            return address
        with written_whole(path) as part, part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        return address

    def get(self, address: str) -> bytes:
        path = self._path(address)
        if not path.is_file():
            raise FileNotFoundError(
                f"{path} is missing: the store was copied without its artefacts. Copy the complete folder."
            )
        return checked(path.read_bytes(), address, str(path))


def checked(data: bytes, address: str, place: str) -> bytes:
    """The bytes, if they match their address."""
    if sha256(data) != address:
        raise ValueError(
            f"{place} is damaged: its content does not match its checksum. Copy the store again, completely."
        )
    return data


def pack_codes(codes: np.ndarray) -> bytes:
    """Codes (n, d) as float16, standardised, with the mean and standard deviation of each column.

    This keeps eleven bits of a column far from 0, or with a spread beyond the range of float16.
    """
    codes = np.asarray(codes, dtype=np.float64)
    center = codes.mean(axis=0).astype(np.float32)
    scale = codes.std(axis=0).astype(np.float32)
    scale[~(scale > 0)] = 1.0
    units = ((codes - center) / scale).astype(np.float16)
    return save({"center": center, "codes": units, "scale": scale})


def unpack_codes(data: bytes) -> np.ndarray:
    """The float32 codes of :func:`pack_codes`.

    >>> unpack_codes(pack_codes(np.array([[1000.0, 0.0], [1001.0, 0.0]])))
    array([[1000.,    0.],
           [1001.,    0.]], dtype=float32)
    """
    parts = load(data)
    return parts["codes"].astype(np.float32) * parts["scale"] + parts["center"]


def pack_array(array: np.ndarray) -> bytes:
    """Any array of numbers, unchanged."""
    return save({"array": np.ascontiguousarray(array)})


def unpack_array(data: bytes) -> Any:
    """The array of :func:`pack_array`."""
    return load(data)["array"]
