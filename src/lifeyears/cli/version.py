"""`lifeyears version`: what is installed."""


def command() -> None:
    """Show the versions of Lifeyears and what it builds on.

    Example: lifeyears version
    """
    from .._versions import show_versions

    show_versions()
