"""The paper's ranker: a survival model retrained for the top of the list."""

from ._dask import fit_on_dask
from ._ranker import BootstrappedRanker

__all__ = ["BootstrappedRanker", "fit_on_dask"]
