"""Simulations in the background: each a child process, with progress, that can be cancelled; results in memory only."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .. import catalogue
from ..errors import RequestError
from ..simulation import as_config
from ._errors import ApiError
from ._limits import NUMBERS, Limits
from ._models import PoliciesReply, SimulationReply, SimulationRequest

if TYPE_CHECKING:
    from .._typing import Json
    from ..simulation import Config

log = logging.getLogger(__name__)

RUNNING = ("waiting", "running")
DEFAULT_POLICIES = ("us_status", "first_come", "greedy", "position_weighted", "lyg", "oracle")
# Names of the main measures for people; others are shown by their keys, with spaces.
MEASURE_LABELS = {
    "life_years_per_transplant": "life-years per transplant",
    "life_years_gained": "life-years gained per year",
    "waitlist_deaths_per_100_patient_years": "deaths per 100 patient-years",
    "waitlist_deaths_per_year": "deaths on the list per year",
    "transplants_per_year": "transplants per year",
    "hearts_lost_per_year": "hearts lost per year",
    "waiting_days_median": "days waited (median)",
}


@dataclass(eq=False)
class Job:
    """One simulation."""

    id: str
    settings: Json
    state: str = "waiting"
    done: int = 0
    total: int = 0
    message: str = "waiting for its turn"
    result: Json | None = None
    process: asyncio.subprocess.Process | None = field(default=None, repr=False)
    task: asyncio.Task[None] | None = field(default=None, repr=False)

    def reply(self) -> SimulationReply:
        """Return what is sent about it."""
        progress = {"done": self.done, "total": self.total, "message": self.message}
        return SimulationReply.model_validate(
            {
                "id": self.id,
                "state": self.state,
                "progress": progress,
                "settings": self.settings,
                "result": self.result,
            }
        )


class Simulations:
    """The jobs; used on the event loop only."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.jobs = limits, dict[str, Job]()
        self.turn = asyncio.Semaphore(limits.simulations_running)

    def start(self, request: SimulationRequest) -> Job:
        """Begin a simulation, or refuse it."""
        settings = check_settings(request, self.limits.simulation_work)
        active = [job for job in self.jobs.values() if job.state in RUNNING]
        if len(active) >= self.limits.simulations_running + self.limits.simulations_waiting:
            raise ApiError(429, "busy", f"{len(active)} simulations are running or waiting: try again when one is done")
        for old in [job for job in self.jobs.values() if job.state not in RUNNING]:
            if len(self.jobs) >= self.limits.simulations_kept:
                del self.jobs[old.id]
        job = Job(secrets.token_hex(8), settings, total=int(settings["replicates"]))
        self.jobs[job.id] = job
        job.task = asyncio.create_task(self._run(job))
        return job

    def get(self, name: str) -> Job:
        """The job of that id."""
        if name not in self.jobs:
            raise ApiError(404, "no_such_simulation", "there is no simulation of that id: it was deleted, or never was")
        return self.jobs[name]

    async def cancel(self, name: str) -> Job:
        """Stop it if it runs, and forget it."""
        job = self.get(name)
        if job.state in RUNNING:
            job.state, job.message = "cancelled", "cancelled"
            _kill(job.process)
            if job.task is not None:
                job.task.cancel()
        del self.jobs[name]
        return job

    async def close(self) -> None:
        """End all of them, with the service."""
        for job in list(self.jobs.values()):
            _kill(job.process)
            if job.task is not None:
                job.task.cancel()
        await asyncio.gather(*(job.task for job in self.jobs.values() if job.task), return_exceptions=True)

    async def _run(self, job: Job) -> None:
        log.info("simulation %s: %d replicates", job.id, job.total)
        try:
            async with self.turn, asyncio.timeout(self.limits.simulation_seconds):
                await self._in_child(job)
        except TimeoutError:
            job.state, job.message = "failed", "it took too long and was ended: ask for fewer years or replicates"
        except OSError:
            job.state, job.message = "failed", "no process could be started for it"
        except ValueError:  # a line that is no JSON, or too long: it would stay "running", and keep a place, for ever
            job.state, job.message = "failed", "the output of the simulation cannot be read"
        finally:
            _kill(job.process)
            if job.process is not None:
                await job.process.wait()
            job.process = None
            log.info("simulation %s: %s", job.id, job.state)

    async def _in_child(self, job: Job) -> None:
        job.state, job.message = "running", "beginning"
        job.process = child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "lifeyears.service._simulation"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=64_000_000,
        )
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps(job.settings).encode() + b"\n")
        child.stdin.close()
        async for line in child.stdout:
            report: Json = json.loads(line)
            if "message" in report:
                job.message = str(report["message"])
                if report["done"] is not None:
                    job.done = int(report["done"])
            elif "result" in report:
                job.result, job.state, job.message, job.done = report["result"], "done", "done", job.total
            else:
                job.state, job.message = "failed", str(report["error"])
        if job.state == "running":
            job.state, job.message = "failed", "the simulation ended without a result"


def check_settings(request: SimulationRequest, most_work: float) -> Json:
    """Check what a caller sent, beyond what its model checks; return plain settings."""
    settings: Json = request.model_dump()
    policies = settings["policies"] = list(DEFAULT_POLICIES) if request.policies is None else list(request.policies)
    known = ", ".join(catalogue.policies)
    if not policies:
        raise ApiError(422, "bad_policies", f"policies must be a list of names out of {known}")
    wrong = [name for name in policies if name not in catalogue.policies]  # by key: never by a path that was sent
    if wrong or len(set(policies)) < len(policies):
        problem = f"there is no policy {wrong[0][:40]!r}" if wrong else "a policy is there twice"
        raise ApiError(422, "bad_policies", f"{problem}; there are {known}")
    work = len(policies) * settings["years"] * settings["replicates"] * settings["scale"]
    if work > most_work:
        raise ApiError(
            422, "too_much", f"policies × years × replicates × scale is {work:,.0f}; at most {most_work:,.0f} at once"
        )
    try:
        make_config(settings)
    except RequestError as error:
        raise ApiError(422, "bad_settings", error.problem, hint=error.hint) from None
    return settings


def describe_policies() -> PoliciesReply:
    """Describe what can be simulated: policies, numbers and measures, by key and label."""
    from ..simulation import World
    from ..simulation.worlds.heart import MAIN_MEASURES, MEASURES

    world = World()
    return PoliciesReply.model_validate(
        {
            "policies": [
                {
                    "policy": key,
                    "label": spec.label,
                    "oracle": bool(getattr(spec.build(), "is_oracle", False)),
                    "default": key in DEFAULT_POLICIES,
                }
                for key, spec in catalogue.policies.items()
            ],
            "settings": [
                {
                    "name": name,
                    "label": number.label,
                    "default": number.default,
                    "low": number.low,
                    "high": number.high,
                    "whole": number.whole,
                }
                for name, number in NUMBERS.items()
            ],
            "measures": [
                {
                    "measure": name,
                    "label": MEASURE_LABELS.get(name, name.replace("_", " ")),
                    "main": name in (*MAIN_MEASURES, "waitlist_deaths_per_year"),
                }
                for name in MEASURES
            ],
            "listed_per_year": world.listed_per_year,
            "donors_per_year": world.donors_per_year,
        }
    )


def make_config(settings: Json) -> Config:
    """Make the simulator's own configuration."""
    from ..simulation import World

    world = World()
    return as_config(
        {
            "policies": list(settings["policies"]),
            "years": settings["years"],
            "replicates": settings["replicates"],
            "random_state": settings["seed"],
            "training_rows": settings["training_rows"],
            "world": {
                "scale": settings["scale"],
                "donors_per_year": world.donors_per_year * settings["donors_rate"],
                "listed_per_year": world.listed_per_year * settings["listed_rate"],
            },
        }
    )


def _kill(process: asyncio.subprocess.Process | None) -> None:
    if process is not None and process.returncode is None:
        try:
            process.kill()
        except ProcessLookupError:
            return
