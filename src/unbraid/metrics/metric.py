"""A line of the table of metrics."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Score = Callable[[Any, Any, int], Any]


@dataclass(frozen=True)
class Metric:
    """One computation, which may give several rows of an evaluation.

    Attributes
    ----------
    name : str
        What :func:`unbraid.evaluate` and the command line call it.
    score : callable (sample, protocol, seed) -> float or result, optional
        The metric of a :class:`~unbraid.evaluation.sample.Sample` with the settings of a
        :class:`~unbraid.evaluation.Protocol`. If None, :func:`unbraid.evaluate` leaves the metric out.
    public : tuple of str
        The function, and the other public names that come with it, as "module.name"; of a variant of the previous
        line none.
    reads : dict of str to callable
        Name of each row, and how to get its value from the result. By default one row with the metric's name.
    needs : tuple of str
        "factors" (it then has a chance level), "observations", or what :func:`unbraid.evaluate` does not have.
    better : {"high", "low"}
    bounds : pair of float
        Least and largest possible value.
    cost : {"light", "medium", "heavy"}
        How many replicates are affordable.

    Examples
    --------
    >>> spread = Metric("spread", lambda sample, protocol, seed: sample.codes.std(), needs=())
    >>> spread.rows, spread.supervised
    (('spread',), False)
    """

    name: str
    score: Score | None
    public: tuple[str, ...] = ()
    reads: dict[str, Callable[[Any], float]] = field(default_factory=dict)
    needs: tuple[str, ...] = ("factors",)
    better: Literal["high", "low"] = "high"
    bounds: tuple[float, float] = (0.0, 1.0)
    cost: Literal["light", "medium", "heavy"] = "light"

    @property
    def rows(self) -> tuple[str, ...]:
        return tuple(self.reads) or (self.name,)

    @property
    def supervised(self) -> bool:
        return "factors" in self.needs

    def compute(self, sample: Any, protocol: Any, seed: int) -> tuple[float, ...]:
        """The number of each row."""
        if self.score is None:
            raise TypeError(f"{self.name} is not computed from one sample; call unbraid.metrics.{self.name} itself.")
        found = self.score(sample, protocol, seed)
        return tuple(float(read(found)) for read in self.reads.values()) or (float(found),)
