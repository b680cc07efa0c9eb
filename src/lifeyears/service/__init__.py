"""The web service and its page; nothing here loads FastAPI before it is used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._limits import Limits

if TYPE_CHECKING:
    from ._sample import sample_models, sample_run
    from ._server import serve
    from ._service import create_app

__all__ = ["Limits", "create_app", "sample_models", "sample_run", "serve"]

_HOMES = {
    "create_app": "._service",
    "sample_models": "._sample",
    "sample_run": "._sample",
    "serve": "._server",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name], __name__), name)
