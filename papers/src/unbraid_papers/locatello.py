"""Locatello et al. (2019): the impossibility theorem, and the five questions of the large study."""

from unbraid_papers import locatello_capacity as capacity
from unbraid_papers import locatello_efficiency as efficiency
from unbraid_papers import locatello_models as models
from unbraid_papers import locatello_study as study
from unbraid_papers import locatello_theorem as theorem
from unbraid_papers.locatello_figures import DRAWINGS
from unbraid_papers.paper import Paper, Table

PAPER = Paper(
    name="locatello",
    title="Challenging common assumptions in the unsupervised learning of disentangled representations",
    reference="Locatello, Bauer, Lucic, Rätsch, Gelly, Schölkopf, Bachem (ICML 2019)",
    about=(
        "Theorem 1 is run as it is proved, by theory.entangle, on known densities and on trained VAEs. The five "
        "questions are asked of the laptop study in place of the paper's 12,600 models: two data sets of 32 x 32 "
        "pictures, six methods at six strengths, a few seeds, 800 steps. Where an interval over seeds includes "
        "the threshold of a claim, the study is too small to tell."
    ),
    experiments=(
        theorem.MAP, theorem.SCORES, models.MODELS, models.STRONGEST, models.SIBLINGS, efficiency.EFFICIENCY,
        capacity.CAPACITY, study.STUDY,
    ),
    claims=(*theorem.CLAIMS, *models.CLAIMS, *efficiency.CLAIMS, *capacity.CLAIMS, *study.CLAIMS),
    beyond=(*theorem.BEYOND, *models.BEYOND, *study.BEYOND),
    drawings=(*DRAWINGS, capacity.DRAWING),
    tables=(
        capacity.TABLE,
        efficiency.TABLE,
        Table(
            "The questions, answered from the study",
            ("question", "the paper says", "its figure", "here (95 % interval over seeds)", "verdict"),
            ("study",),
            study.answer_rows,
        ),
    ),
)  # fmt: skip
