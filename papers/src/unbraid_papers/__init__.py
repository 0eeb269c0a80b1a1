"""Every paper's experiment by one command: our figures beside theirs, and verdicts that are computed.

A paper is a module with a :class:`Paper`, and a line in the entry points ``unbraid.papers`` of a distribution, this one
or another: ``unbraid reproduce`` finds it there.
"""

from unbraid.evaluation.claims import Part, part
from unbraid_papers.bench import Bench
from unbraid_papers.paper import Drawing, Experiment, Paper, PaperClaim, Rows, Table, mean_part

__all__ = ["Bench", "Drawing", "Experiment", "Paper", "PaperClaim", "Part", "Rows", "Table", "mean_part", "part"]
