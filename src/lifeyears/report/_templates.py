"""The Jinja2 environment of the report: every value is escaped unless a template made it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from .._views import format_number
from ._static import static_text
from ._words import format_share

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def load_environment() -> Environment:
    """Load the templates of this package. A misspelt name in a template is an error, not an empty text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("lifeyears.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {
        "ensure_ascii": False,
        "allow_nan": False,
        "separators": (",", ":"),
    }
    environment.filters |= {
        "number": format_number,
        "share": format_share,
    }
    # the files of this package go into the page as they are; their hashes are in its policy
    environment.globals["static"] = lambda name: Markup(static_text(name))
    return environment
