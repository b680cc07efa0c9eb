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
    """Return the versions of Python and of each package we build on; absent ones are marked."""
    versions = {"python": sys.version.split()[0], "platform": platform.platform(terse=True)}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return versions


def show_versions() -> None:
    """Print the versions of Python and of the packages Lifeyears builds on."""
    for name, number in installed_versions().items():
        print(f"{name:16} {number}")
