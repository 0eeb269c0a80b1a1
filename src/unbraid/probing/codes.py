"""Codes of a data set: drawn once, encoded in batches with a progress bar, and cached by content."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.data.rows import Rows, is_sliceable
from unbraid.probing.encoders import Encoder, digest
from unbraid.runtime.progress import bar
from unbraid.saving.persistence import written_whole


@dataclass(frozen=True)
class Drawn:
    """Observations with known factors.

    Attributes
    ----------
    name : str
        Of the data set; "" where arrays were given.
    rows : Rows
    factors : ndarray (n, n_factors)
    factor_names : tuple of str
    """

    name: str
    rows: Rows
    factors: np.ndarray
    factor_names: tuple[str, ...]


def draw(dataset: Any, n: int, random_state: int) -> Drawn:
    """``n`` observations of a data set or of its name; all rows of a pair (X, factors); what is drawn already."""
    if isinstance(dataset, Drawn):
        return dataset
    if isinstance(dataset, str):
        dataset = import_module("unbraid.datasets").load(dataset)
    if isinstance(dataset, tuple) and len(dataset) == 2:
        rows, factors = Rows(dataset[0]), np.asarray(dataset[1])
        factors = factors[:, None] if factors.ndim == 1 else factors
        if factors.ndim != 2 or len(factors) != len(rows):
            raise ValueError(
                f"X has {len(rows)} rows and factors have shape {factors.shape}; give one row per observation."
            )
        if not is_sliceable(rows.source):
            rows = Rows(np.concatenate(list(rows.stored())))
        return Drawn("", rows, factors, tuple(f"factor {k + 1}" for k in range(factors.shape[1])))
    try:
        sample, names = dataset.sample, tuple(dataset.factor_names)
    except AttributeError as error:
        raise TypeError(
            f"a {type(dataset).__name__} is not a data set. Give the name of one, ub.datasets.load(...), or a pair (X, "
            "factors)."
        ) from error
    X, factors = sample(n, random_state=random_state)
    return Drawn(str(dataset.name), Rows(X), np.asarray(factors), names)


def encode_rows(
    encoder: Encoder, rows: Rows, *, batch_size: int, cache: Path | None, progress: bool | None
) -> np.ndarray:
    """Codes (n, n_codes) of all rows; from the folder ``cache`` if the same encoder coded the same rows before."""
    file = None
    if cache is not None and encoder.content:
        file = cache / f"{digest(encoder.content.encode(), rows.fingerprint().encode())}.npy"
        if file.is_file():
            return np.load(file, allow_pickle=False)
    parts: list[np.ndarray] = []
    with bar(f"encode: {encoder.name}", total=len(rows), show=progress) as advance:
        for block in rows.stored(batch_size):
            codes = encoder.encode(block if encoder.wants_stored else rows.clean(block))
            if codes.ndim != 2 or len(codes) != len(block):
                raise ValueError(
                    f"{encoder.name} gives codes of shape {codes.shape} for {len(block)} rows; they must be "
                    f"({len(block)}, n_codes)."
                )
            parts.append(codes)
            advance(len(block))
    codes = np.concatenate(parts)
    if not np.isfinite(codes).all():
        bad = int((~np.isfinite(codes)).any(axis=1).sum())
        raise ValueError(
            f"{encoder.name} gives NaN or infinity for {bad} of {len(codes)} rows. Is its input scaled as in training? "
            "See prepare=Preparation(mean=..., std=...)."
        )
    if file is not None:
        with written_whole(file) as part:  # another process may be writing the same file
            np.save(part, codes)
    return codes


def axes_of(codes: np.ndarray, most: int | None) -> tuple[np.ndarray, float, bool]:
    """The units that vary; where there are more than ``most``, the leading principal components of them.

    Then the share of the variance on these axes (1 where they are the units), and whether they are components.

    >>> axes_of(np.random.default_rng(0).normal(size=(50, 4)), 2)[0].shape
    (50, 2)
    """
    varying = codes[:, np.ptp(codes, axis=0) > 0]
    if not varying.shape[1]:
        raise ValueError(
            f"all {len(codes)} rows have the same codes: the encoder does not distinguish them. Is its input "
            "scaled as in training?"
        )
    if most is None or varying.shape[1] <= most:
        return varying, 1.0, False
    centred = varying.astype(np.float64) - varying.mean(0, dtype=np.float64)
    small = centred @ centred.T if len(centred) < centred.shape[1] else centred.T @ centred
    values, vectors = np.linalg.eigh(small)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1][:, :most]
    leading = vectors * np.sqrt(values[:most]) if len(centred) < centred.shape[1] else centred @ vectors
    signs = np.sign(leading[np.abs(leading).argmax(axis=0), np.arange(leading.shape[1])])
    return leading * signs, float(values[:most].sum() / values.sum()), True
