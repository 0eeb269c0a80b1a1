"""What a study means: one function per question, each with a table, a figure and words that intervals decide.

>>> sorted(QUESTIONS)
['agreement', 'independence', 'selection', 'spread', 'usefulness', 'variance']
"""

from unbraid.evaluation.claims import Claim
from unbraid.study.analysis.agreement import Agreement, agreement
from unbraid.study.analysis.answers import Answer, Unanswerable
from unbraid.study.analysis.independence import Independence, independence
from unbraid.study.analysis.page import QUESTIONS, study_report
from unbraid.study.analysis.selection import Selection, selection
from unbraid.study.analysis.spread import Spread, spread
from unbraid.study.analysis.usefulness import Usefulness, usefulness
from unbraid.study.analysis.variance import Variance, variance

__all__ = [
    "QUESTIONS",
    "Agreement",
    "Answer",
    "Claim",
    "Independence",
    "Selection",
    "Spread",
    "Unanswerable",
    "Usefulness",
    "Variance",
    "agreement",
    "independence",
    "selection",
    "spread",
    "study_report",
    "usefulness",
    "variance",
]
