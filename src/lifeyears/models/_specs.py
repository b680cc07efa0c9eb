"""The survival models of Lifeyears, for the catalogue."""

from ..catalogue import MethodSpec

SPECS = (
    MethodSpec("KM", "Kaplan–Meier", "lifeyears.models:KaplanMeier"),
    MethodSpec("Cox", "Cox", "lifeyears.models:Cox"),
    MethodSpec("AFT", "Weibull AFT", "lifeyears.models:WeibullAFT"),
    MethodSpec("DeepSurv", "DeepSurv", "lifeyears.models:DeepSurv", extra="deep"),
    MethodSpec("DeepHit", "DeepHit", "lifeyears.models:DeepHit", extra="deep"),
    MethodSpec("LightGBMCox", "LightGBM Cox", "lifeyears.models:LightGBMCox"),
    MethodSpec("XGBoostCox", "XGBoost Cox", "lifeyears.models:XGBoostCox", extra="peers"),
    MethodSpec("XGBoostAFT", "XGBoost AFT", "lifeyears.models:XGBoostAFT", extra="peers"),
    MethodSpec("CatBoostCox", "CatBoost Cox", "lifeyears.models:CatBoostCox"),  # too large for an extra
    MethodSpec("RSF", "random survival forest", "lifeyears.models:RandomSurvivalForest", extra="peers"),
)
