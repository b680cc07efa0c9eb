"""How much one request may ask for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of the service.

    Attributes
    ----------
    body_bytes, settings_bytes : int
        Of one request with rows; of one without (simulations, the sample).
    waiting_bytes, waiting_requests : int
        Of all requests that are being read or wait for their turn; beyond, new ones are told to come back.
    body_seconds, work_seconds : float
        To send a request; to wait for and get the answer.
    rows, explained_rows : int
        Of `rank` and `evaluate`; of `explain`, which draws curves.
    k, reasons : int
        Of `rank`: places among which Algorithm 1 draws; reasons told of each candidate.
    simulations_running, simulations_waiting, simulations_kept : int
    simulation_seconds : float
        After which a simulation is ended.
    simulation_work : float
        Policies × years × replicates × size that one simulation may ask for, US size being 1.
    """

    body_bytes: int = 32_000_000
    settings_bytes: int = 100_000
    waiting_bytes: int = 400_000_000
    waiting_requests: int = 1000
    body_seconds: float = 30.0
    work_seconds: float = 60.0
    rows: int = 10_000
    explained_rows: int = 200
    k: int = 1000
    reasons: int = 50
    simulations_running: int = 1
    simulations_waiting: int = 4
    simulations_kept: int = 20
    simulation_seconds: float = 3600.0
    simulation_work: float = 2000.0
