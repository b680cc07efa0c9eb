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


@dataclass(frozen=True)
class Number:
    """A number that a caller of a simulation may set."""

    label: str
    description: str
    default: float
    low: float
    high: float
    whole: bool = False


# What a caller may set; the rest is the simulator's default.
NUMBERS: dict[str, Number] = {
    "years": Number("Years", "Years to simulate.", 2, 0.5, 20),
    "replicates": Number("Replicates", "Number of replicates.", 4, 1, 50, whole=True),
    "seed": Number("Seed", "Seed of all random choices.", 0, 0, 2**31, whole=True),
    "scale": Number(
        "Size (US = 1)",
        "Size of the list; 1 is the United States. On a smaller list fewer candidates fit a heart, and more are lost.",
        1.0,
        0.01,
        1.0,
    ),
    "training_rows": Number(
        "Patients to learn from", "Simulated patients to fit models to.", 4000, 1000, 40_000, whole=True
    ),
    "donors_rate": Number("Hearts, × today", "Hearts offered, as a multiple of today's number.", 1.0, 0.2, 5.0),
    "listed_rate": Number(
        "New candidates, × today", "Candidates listed, as a multiple of today's number.", 1.0, 0.2, 5.0
    ),
}
