"""The survival models of Lifeyears, for the catalogue."""

from ..catalogue import MethodSpec

SPECS = (
    MethodSpec("KM", "Kaplan–Meier", "lifeyears.models:KaplanMeier"),
    MethodSpec("Cox", "Cox", "lifeyears.models:Cox"),
    MethodSpec("AFT", "Weibull AFT", "lifeyears.models:WeibullAFT"),
    MethodSpec("DeepSurv", "DeepSurv", "lifeyears.models:DeepSurv", extra="deep"),
    MethodSpec("DeepHit", "DeepHit", "lifeyears.models:DeepHit", extra="deep"),
)
