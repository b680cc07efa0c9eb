"""The ranking methods of Lifeyears, for the catalogue."""

from ..catalogue import MethodSpec

SPECS = (
    MethodSpec("bootstrapped", "bootstrapped ranker (paper)", "lifeyears.ranking:BootstrappedRanker"),
    MethodSpec("stacked", "stacked ranker", "lifeyears.ranking:StackedRanker"),
)
