"""`python -m lifeyears`."""

from .cli import main

main()
