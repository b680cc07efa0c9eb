"""Parallel jobs on joblib's own workers, or on those of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypedDict

from .errors import Message, MissingExtraError, RequestError, Setting


class ParallelOptions(TypedDict, total=False):
    """Options for joblib's `Parallel`."""

    n_jobs: int


@contextmanager
def workers(dask: str | None) -> Iterator[ParallelOptions]:
    """Yield options for joblib's `Parallel` within the block: its own workers, or those of a Dask cluster.

    Parameters
    ----------
    dask : str or None
        None for joblib's own workers, "local" or "local:N" for a cluster of N processes on this machine (default: 2),
        or the address of a scheduler.
    """
    if dask is None:
        yield {}
        return
    try:
        from dask.distributed import Client, LocalCluster
        from joblib import parallel_config
    except ImportError as error:
        raise MissingExtraError(
            Message(Setting("dask"), " needs Dask, which is not installed"),
            hint='Install it with pip install "lifeyears[dask]".',
            extra="dask",
        ) from error
    kind, _, number = dask.partition(":")
    if kind == "local" and number and not (number.isdecimal() and int(number)):
        raise RequestError(
            f"the number of local workers must be a whole number, at least 1; got {dask!r}",
            hint=Message("Pass ", Setting("dask", "local:2"), ", say."),
        )
    if kind == "local":
        with (
            LocalCluster(n_workers=int(number or 2), threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
            Client(cluster),
            parallel_config(backend="dask"),
        ):
            yield {"n_jobs": -1}
    else:
        with Client(dask), parallel_config(backend="dask"):
            yield {"n_jobs": -1}
