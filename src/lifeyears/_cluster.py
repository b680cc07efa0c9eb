"""Units of work on joblib's own workers, or on those of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def workers(dask: str | None) -> Iterator[dict[str, Any]]:
    """Options for joblib's `Parallel` within the block: its own workers, or those of a Dask cluster."""
    if dask is None:
        yield {}
        return
    try:
        from dask.distributed import Client, LocalCluster
        from joblib import parallel_config
    except ImportError as error:
        raise ImportError('--dask needs dask: pip install "lifeyears[dask]"') from error
    kind, _, many = dask.partition(":")
    if kind == "local" and many and not (many.isdecimal() and int(many)):
        raise ValueError(f"--dask local:N takes a number of workers, at least 1; got {dask!r}")
    if kind == "local":
        with (
            LocalCluster(n_workers=int(many or 2), threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
            Client(cluster),
            parallel_config(backend="dask"),
        ):
            yield {"n_jobs": -1}
    else:
        with Client(dask), parallel_config(backend="dask"):
            yield {"n_jobs": -1}
