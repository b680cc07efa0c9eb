"""The web service and its page; nothing here loads FastAPI before it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._server import serve
    from ._service import create_app

__all__ = ["create_app", "serve"]


def __getattr__(name: str) -> Any:
    if name == "create_app":
        from ._service import create_app

        return create_app
    if name == "serve":
        from ._server import serve

        return serve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
