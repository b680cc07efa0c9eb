"""The relevance estimators of Lifeyears, for the catalogue."""

from ..catalogue import MethodSpec

SPECS = (
    MethodSpec("EY", "expected years (EY)", "lifeyears.relevance:ExpectedYears"),
    MethodSpec("IPCW", "inverse probability of censoring weighting (IPCW)", "lifeyears.relevance:IPCW"),
    MethodSpec("DR", "doubly robust (DR)", "lifeyears.relevance:DoublyRobust"),
)
