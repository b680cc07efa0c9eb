"""Toy methods for Lifeyears, one of each kind, whose results can be computed by hand.

Nothing in Lifeyears knows them: they are declared by the entry points in ``pyproject.toml``.
"""
