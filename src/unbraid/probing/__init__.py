"""Probes: what an existing encoder knows about the factors of a data set."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.evaluation import PROTOCOLS, Protocol, draw_sample, evaluate
from unbraid.evaluation.protocol import find_protocol
from unbraid.metrics.arrays import known_order
from unbraid.probing.codes import axes_of, draw, encode_rows
from unbraid.probing.comparison import Comparison, plot_against_size
from unbraid.probing.encoders import Encoder, open_encoder
from unbraid.probing.probes import FactorProbe, probe_factors
from unbraid.probing.result import Probe, plot_factors

__all__ = [
    "Comparison",
    "Encoder",
    "FactorProbe",
    "Preparation",
    "Probe",
    "compare",
    "open_encoder",
    "plot_against_size",
    "plot_factors",
    "probe",
]

MOST_CODES = 32
PROTOCOL = replace(
    PROTOCOLS["fast"],
    name="probe",
    n_samples=3_000,
    n_train=2_000,
    n_test=1_000,
    n_batches=1_000,
    n_batches_test=1_000,
    replicates={"light": 30, "medium": 8, "heavy": 4},
    chance_draws={"light": 2, "medium": 1, "heavy": 1},
)


def __getattr__(name: str) -> Any:
    if name == "Preparation":  # it needs torch, which probing a function or an estimator does not
        from unbraid.runtime.extras import require

        require("torch", "probe")
        from unbraid.probing.preparation import Preparation

        return Preparation
    raise AttributeError(f"unbraid.probing has no {name!r}. Available: {', '.join(__all__)}")


def probe(
    encode: Any,
    dataset: Any,
    metrics: str | Iterable[str] = "all",
    *,
    prepare: Any = None,
    name: str = "",
    most_codes: int | None = MOST_CODES,
    protocol: str | Protocol = PROTOCOL,
    batch_size: int = 64,
    cache: str | PathLike | None = None,
    progress: bool | None = None,
) -> Probe:
    """Score any encoder on a data set with known factors: all metrics, and probes of each factor.

    Metrics have their 95 % interval, chance level and ceiling (:func:`unbraid.evaluate`). A linear probe (logistic or
    ridge regression) and boosted trees measure how well each factor can be predicted on held-out rows.

    Parameters
    ----------
    encode : callable, estimator, torch module, str or path
        A function of a batch of rows; an estimator; a torch module, which takes (n, channels, height, width) in
        [0, 1]; an ``.onnx``, ``.pt2`` (torch.export) or ``.pt`` (TorchScript) file; a saved run; or a name, as
        ``timm:resnet18`` or ``pixels``. See :func:`unbraid.probing.open_encoder`.
    dataset : data set, its name, or a pair (X, factors)
    metrics : "all", a name, or names
        As in :func:`unbraid.evaluate`. Those that need the observations are left out of "all".
    prepare : Preparation, optional
        Channels, size and scale of images for a torch module or graph.
    name : str
        Of the encoder, for tables.
    most_codes : int or None
        If the encoder has more units, this many principal components are scored and probed: a metric that looks for one
        code per factor means little for a thousand units, and trees take hours on them. None scores all units.
    protocol : Protocol, "fast" or "dlib-v1"
        Sample sizes and settings. The default has 3000 samples.
    batch_size : int
        Rows encoded at a time.
    cache : path, optional
        A folder for codes. The same encoder (by its weights or file) is not run again on the same rows; functions have
        no content to compare and always run.
    progress : bool, optional
        Show bars; by default on a terminal.

    Returns
    -------
    Probe
        ``print`` shows the tables, ``probe["mig"].value`` is a number, ``probe.report().write(path)`` a page.

    Examples
    --------
    >>> import unbraid as ub
    >>> def corners(X):
    ...     return X.reshape(len(X), -1)[:, [0, 5, 10]]
    >>> data = ub.datasets.load("isometric", n_features=20)
    >>> found = ub.probe(corners, data, metrics=["mcc", "mig"])
    >>> found["mcc"].chance < found["mcc"].value <= 1
    True
    >>> [p.kind for p in found.factors if p.factor == "z0"]
    ['linear', 'trees']
    """
    rules = find_protocol(protocol)
    drawn = draw(dataset, rules.pool, rules.random_state)
    encoder = open_encoder(encode, prepare, name)
    if most_codes is not None and not most_codes >= 1:
        raise ValueError(f"most_codes={most_codes!r} must be at least 1, or None for all units.")
    if not batch_size >= 1:
        raise ValueError(f"batch_size={batch_size!r} must be at least 1.")
    folder = None if cache is None else Path(cache)
    codes = encode_rows(encoder, drawn.rows, batch_size=batch_size, cache=folder, progress=progress)
    axes, variance, reduced = axes_of(codes, most_codes)
    with known_order():
        sample = draw_sample(drawn.factors, axes, None, **rules.sizes)
        factors = probe_factors(
            np.asarray(drawn.factors), axes, sample.train, sample.test, drawn.factor_names,
            random_state=rules.random_state, progress=progress,
        )  # fmt: skip
        found = evaluate(drawn.factors, axes, metrics, protocol=rules, progress=progress)
    sizes = encoder.n_parameters, codes.shape[1], axes.shape[1]
    return Probe(encoder.name, drawn.name, *sizes, reduced, variance, found, factors)


def compare(
    encoders: Mapping[str, Any],
    dataset: Any,
    metrics: str | Iterable[str] = ("mig", "sap", "dci", "mcc"),
    *,
    most_codes: int | None = MOST_CODES,
    protocol: str | Protocol = PROTOCOL,
    batch_size: int = 64,
    cache: str | PathLike | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Probe several encoders on the same rows: one table, and scores against the number of parameters.

    Parameters
    ----------
    encoders : mapping of str to encoders
        Names, and what :func:`probe` takes (or an :class:`Encoder`, where one needs a ``prepare`` of its own).
    dataset : data set, its name, or a pair (X, factors)
    metrics : "all", a name, or names
    most_codes, protocol, batch_size, cache, progress
        As in :func:`probe`.

    Returns
    -------
    Comparison
        ``print`` shows the table, ``comparison["name"]`` is a :class:`Probe`, ``comparison.report()`` the page.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(600, 2))
    >>> found = compare({"truth": lambda X: X, "turned": lambda X: X @ [[1, 1], [1, -1]]}, (z, z), metrics="mcc")
    >>> found["truth"]["mcc"].value > found["turned"]["mcc"].value
    True
    """
    if not isinstance(encoders, Mapping) or not encoders:
        raise TypeError("encoders must be a mapping from names to encoders with at least one entry.")
    rules = find_protocol(protocol)
    drawn = draw(dataset, rules.pool, rules.random_state)
    opened = [replace(open_encoder(source), name=name) for name, source in encoders.items()]
    settings: Any = {"most_codes": most_codes, "batch_size": batch_size, "cache": cache, "progress": progress}
    return Comparison(tuple(probe(encoder, drawn, metrics, protocol=rules, **settings) for encoder in opened))
