"""Numbers as the sentences of the report show them."""

from __future__ import annotations

from .._views import format_number


def format_time(value: float) -> str:
    """Format a time without decimals that carry nothing.

    Examples
    --------
    >>> format_time(20.0), format_time(15.7975), format_time(2313.0)
    ('20', '15.8', '2,313')
    """
    return format_number(value, 0 if float(value).is_integer() or value >= 1000 else 1 if value >= 10 else 2)


def format_difference(value: float | None, digits: int = 2) -> str:
    """Format a difference with its sign.

    Examples
    --------
    >>> format_difference(0.5), format_difference(-0.5)
    ('+0.50', '−0.50')
    """
    text = format_number(value, digits)
    return f"+{text}" if value is not None and value > 0 else text


def format_share(share: float, digits: int = 0) -> str:
    """Format a share in percent.

    Examples
    --------
    >>> format_share(0.5)
    '50%'
    """
    return f"{format_number(100 * share, digits)}%"
