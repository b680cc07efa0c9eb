"""The libraries of the peers, imported when a model is fitted, and the seeds that they take."""

from __future__ import annotations

import importlib
from types import ModuleType

import numpy as np
from sklearn.utils import check_random_state

from ...errors import MissingExtraError


def import_library(name: str, model: str, install: str) -> ModuleType:
    """Import a library, or say how to install it.

    Parameters
    ----------
    name : str
        The module.
    model : str
        The model that needs it.
    install : str
        What to pass to pip.

    Raises
    ------
    MissingExtraError
        If the library is not installed.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{model} needs {name.partition('.')[0]}, which is not installed",
            hint=f"Install it with: pip install {install}.",
            model=model,
        ) from error


def draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return a seed for a library that takes whole numbers: the number itself, or one drawn from a generator."""
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state) % (2**31 - 1)
    return int(check_random_state(random_state).randint(2**31 - 1))
