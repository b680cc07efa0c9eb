"""What is installed, for bug reports."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    "lifeyears",
    "numpy",
    "scipy",
    "pandas",
    "scikit-learn",
    "numba",
    "lightgbm",
    "joblib",
    "matplotlib",
    "torch",
    "SurvSet",
    "scikit-survival",
    "lifelines",
)


def installed_versions() -> dict[str, str]:
    """Versions of Python and of each package we build on; absent ones are marked."""
    found = {"python": sys.version.split()[0], "platform": platform.platform(terse=True)}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def show_versions() -> None:
    """Print the versions of Python and of the packages Lifeyears builds on."""
    for name, number in installed_versions().items():
        print(f"{name:16} {number}")
