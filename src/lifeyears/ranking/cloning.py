"""Unfitted copies of models, with a horizon and with seeds where they have none."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone


def clone_model(model: Any, tau: float, seed: int) -> Any:
    """Return an unfitted copy with this horizon, if the model has one, and a seed wherever it has none."""
    copy = set_seeds(clone(model, safe=False), seed)
    return copy.set_params(tau=tau) if "tau" in get_parameters(copy) else copy


def set_seeds(model: Any, seed: int) -> Any:
    """Set a seed wherever a model has none, so that the same seed gives the same result; return the model.

    A model with a `random_state` of its own seeds its parts from it; of another one (a Pipeline) every part is given
    the seed.
    """
    parameters = get_parameters(model)
    every = [name for name in parameters if name.endswith("random_state")]
    seeds = ["random_state"] if "random_state" in parameters else every
    unset = [name for name in seeds if parameters[name] is None]
    return model.set_params(**dict.fromkeys(sorted(unset), seed)) if unset else model


def get_parameters(model: Any) -> dict[str, Any]:
    """Return the parameters of a model and of its parts; none for an object that only fits and predicts."""
    return model.get_params() if hasattr(model, "get_params") else {}
