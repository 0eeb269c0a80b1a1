"""What Locatello et al. (2019) claim about their study, as claims that any study can be held to."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from unbraid.evaluation.claims import Claim, Part
from unbraid.study.analysis.paper import TRANSFER, variance_range

STRONG = 0.5  # a rank correlation from here on tells good runs from bad ones

_OBJECTIVE, _STRENGTH = variance_range("objective"), variance_range("objective x strength")


def _shares(shares: tuple[float, float, float]) -> str:
    return f"{100 * shares[1]:.0f} % on average ({100 * shares[0]:.0f} to {100 * shares[2]:.0f} %)"


def _falls(kind: str) -> str:
    return f"80.7 % becomes {100 * TRANSFER[kind]:.1f} %"


_claim = partial(Claim, exclusive=True)  # more than nothing, less than strong: the ends themselves tell nothing

_ALL = (
    _claim("mean-tc-grows",
           "The total correlation of the mean representation increases with the regularization strength.",
           "Figure 1", "no figure: increases", "mean rank correlation with strength", least=0.0),
    _claim("sampled-tc-falls",
           "The total correlation of the sampled representation decreases with the regularization strength.",
           "Figure 1", "no figure: decreases", "mean rank correlation with strength", most=0.0),
    _claim("mean-codes-stay-correlated",
           "An uncorrelated aggregated posterior does not make the mean representation uncorrelated.",
           "Section 5.1, implications", "no figure: with minor exceptions",
           "runs at full strength whose mean codes have the higher total correlation, less the others, as a share",
           least=0.0),
    _claim("metrics-correlated", "All metrics except Modularity are mildly correlated.", "Figure 2",
           "no figure: mildly correlated", "mean rank correlation", least=0.0),
    _claim("beta-vae-with-factor-vae", "BetaVAE and FactorVAE score are strongly correlated.", "Figure 2",
           "no figure: strongly correlated", "their rank correlation, less the mean of all", least=0.0),
    _claim("mig-with-dci", "MIG and DCI Disentanglement are strongly correlated.", "Figure 2",
           "no figure: strongly correlated", "their rank correlation, less the mean of all", least=0.0),
    _claim("modularity-apart", "Modularity is the exception.", "Figure 2", "no figure: the exception",
           "mean rank correlation of the others, less that with Modularity", least=0.0),
    _claim("runs-overlap", "A good run with a bad hyperparameter can beat a bad run with a good one.", "Figure 3",
           "no figure: it can", "chance that a run of the worst strength beats one of the best", least=0.025,
           percent=True),
    _claim("objective-share",
           "The objective explains a share of the variance of the scores as on the paper's data sets.",
           "Table a, variance explained", _shares(_OBJECTIVE), "mean share", least=_OBJECTIVE[0], most=_OBJECTIVE[2],
           percent=True),
    _claim("objective-and-strength-share", "Objective and strength explain a share as on the paper's data sets.",
           "Table b, variance explained", _shares(_STRENGTH), "mean share", least=_STRENGTH[0], most=_STRENGTH[2],
           percent=True),
    _claim("seed-matters-more", "Random seeds and hyperparameters matter more than the objective.",
           "Section 5.3, implication", "63 % against 37 %", "share that the objective leaves", least=0.5,
           percent=True),
    _claim("best-setting-repeats", "A setting that is best with one seed beats a random one with another seed.",
           "Section 5.4", "80.7 %", "chance to beat a random run", least=0.5,
           percent=True),
    _claim("lost-on-other-data", "On another data set most of that is lost.", "Section 5.4",
           _falls("same metric, other data set"), "half the gain over 50 %, less the gain there", least=0.0,
           percent=True),
    _claim("lost-by-other-metric", "By another metric on another data set, too.", "Section 5.4",
           _falls("other metric, other data set"), "half the gain over 50 %, less the gain there", least=0.0,
           percent=True),
    _claim("no-unsupervised-score", "No unsupervised score tells a good training run from a bad one.", "Section 5.4",
           "no figure: no clear pattern emerges", f"median rank correlation with the metrics (strong from {STRONG} on)",
           least=-STRONG, most=STRONG),
    _claim("udr-tells", "UDR tells good runs from bad ones.", "Duan et al. 2020", "it does",
           "median rank correlation with the metrics", least=0.0),
    _claim("accuracy-correlated", "Downstream accuracy is correlated with the metrics.", "Figure 5",
           "no figure: correlated on dSprites", "median rank correlation", least=0.0),
    _claim("efficiency-unreliable", "Higher scores do not reliably lead to a higher sample efficiency.", "Figure 6",
           "no figure: not observed", f"median rank correlation (reliable from {STRONG} on)", most=STRONG),
)  # fmt: skip
CLAIMS = {claim.id: claim for claim in _ALL}


def judged(claim: str, value: ArrayLike, low: ArrayLike, high: ArrayLike, *, parts: Sequence[str] = ("",)) -> Claim:
    """The claim of this id with figures of a study, each with its 95 % interval over seeds (NaN with too few seeds)."""
    numbers = np.column_stack([np.ravel(x) for x in (value, low, high)])
    found = {name: Part(*map(float, row)) for name, row in zip(parts, numbers, strict=True)}
    needed = ("An interval needs three seeds or more of each setting.",) * bool(np.isnan(numbers).any())
    return CLAIMS[claim].judge(found, *needed)
