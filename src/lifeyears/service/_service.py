"""The web service: routes, and how a request is read, does its work off the event loop, and is answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request, Response
from fastapi.staticfiles import StaticFiles
from pydantic_core import from_json, to_json
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from .._version import __version__
from ..errors import LifeyearsError, RequestError
from ..scoring import MatchModel
from ._answers import Answers
from ._errors import ApiError
from ._guard import LOOPBACK, Guard, log_error
from ._limits import Limits
from ._openapi import describe_service
from ._sample import Sample
from ._simulations import Simulations

if TYPE_CHECKING:
    from .._typing import Json

STATIC = Path(__file__).parent / "static"


@dataclass
class Held:
    """Bytes of a request that are in memory."""

    size: int = 0


class Service:
    """What the routes share: models, limits, and two lanes for work, so that a long evaluation delays no ranking."""

    def __init__(self, models: Mapping[str, MatchModel], run: Json | None, limits: Limits) -> None:
        self.answers, self.run, self.limits = Answers(models, limits), run, limits
        self.simulations = Simulations(limits)
        self.samples: dict[MatchModel, Sample] = {}
        self.quick, self.slow = (ThreadPoolExecutor(1, thread_name_prefix=name) for name in ("rank", "evaluate"))
        self.waiting = self.waiting_bytes = 0

    def sample(self, name: str | None) -> Sample:
        """Candidates and donors for a model."""
        model = self.answers.model({"model": name})
        if model not in self.samples:  # not by its title, which two models may share
            self.samples[model] = Sample(model)
        return self.samples[model]

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A request that counts as waiting until the block ends."""
        if self.waiting >= self.limits.waiting_requests:
            raise ApiError(429, "busy", "too many requests are waiting: try again in a moment")
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1

    @asynccontextmanager
    async def body(self, request: Request, most: int) -> AsyncIterator[bytes]:
        """The body of a request, of so many bytes at most; it counts as waiting until the block that uses it ends."""
        held = Held()
        with self.turn():
            try:
                yield await self._read(request, most, held)
            finally:
                self.waiting_bytes -= held.size

    async def _read(self, request: Request, most: int, held: Held) -> bytes:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise ApiError(415, "not_json", "send JSON, with Content-Type: application/json")
        parts, too_large = [], f"the request is too large: at most {most / 1e6:g} MB"
        stated = request.headers.get("content-length", "0")
        if stated.isdecimal() and int(stated) > most:
            raise ApiError(413, "too_large", too_large)
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                async for chunk in request.stream():
                    held.size += len(chunk)
                    self.waiting_bytes += len(chunk)
                    if held.size > most:
                        raise ApiError(413, "too_large", too_large)
                    if self.waiting_bytes > self.limits.waiting_bytes:
                        raise ApiError(429, "busy", "too much is waiting: try again in a moment")
                    parts.append(chunk)
        except TimeoutError:
            raise ApiError(408, "too_slow", "the request took too long to arrive") from None
        except ClientDisconnect:
            raise ApiError(400, "gone", "the request was not finished") from None
        return b"".join(parts)

    async def answered(self, request: Request, answer: Callable[[object], Json], lane: ThreadPoolExecutor) -> Response:
        """Read, parse and answer, the latter two off the event loop."""
        async with self.body(request, self.limits.body_bytes) as body:
            work = asyncio.get_running_loop().run_in_executor(lane, _answer_body, answer, body)
            del body
            return await self._finished(work)

    async def sampled(self, answer: Callable[[], Json]) -> Response:
        """What is said of the sample; pairing candidates and donors takes a while, so off the event loop too."""
        with self.turn():
            return await self._finished(
                asyncio.get_running_loop().run_in_executor(self.quick, lambda: _write_json(answer()))
            )

    async def _finished(self, work: Awaitable[bytes]) -> Response:
        try:
            async with asyncio.timeout(self.limits.work_seconds):
                return Response(await work, media_type="application/json")
        except TimeoutError:
            raise ApiError(503, "too_slow", "the answer took too long: send fewer rows, or try again") from None

    async def settings(self, request: Request) -> object:
        """A few settings, parsed at once: too little to keep others waiting."""
        async with self.body(request, self.limits.settings_bytes) as body:
            return parse_json(body)

    async def close(self) -> None:
        """End what runs in the background."""
        await self.simulations.close()
        for lane in (self.quick, self.slow):
            lane.shutdown(wait=False, cancel_futures=True)


def parse_json(body: bytes) -> object:
    """Parse the JSON of any client, within reason: no NaN, no Infinity, no nesting beyond what anybody needs."""
    try:
        content: object = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise ApiError(400, "bad_json", f"this is not JSON that can be read: {error}") from None
    return content


def _answer_body(answer: Callable[[object], Json], body: bytes) -> bytes:
    return _write_json(answer(parse_json(body)))


def _write_json(content: Json) -> bytes:
    return to_json(content, inf_nan_mode="null")


def _reply(content: Json, status: int = 200) -> Response:
    return Response(_write_json(content), status, media_type="application/json")


def create_app(
    models: Mapping[str, MatchModel],
    run: Json | None = None,
    token: str | None = None,
    hosts: tuple[str, ...] | None = LOOPBACK,
    limits: Limits | None = None,
) -> FastAPI:
    """The service for some models.

    Parameters
    ----------
    models : dict of str to MatchModel
        By the names under which they are asked for; the first is the one that answers unless another is named.
    run : dict, optional
        The summary of a run, for Compare.
    token : str, optional
        What callers must send as ``Authorization: Bearer …``.
    hosts : tuple of str or None
        Host names the service answers to; None means any.
    limits : Limits, optional

    Returns
    -------
    FastAPI
        For any ASGI server; `serve` runs it.

    Examples
    --------
    >>> import lifeyears as ly
    >>> from lifeyears.scoring import fit_model
    >>> app = create_app({"cox": fit_model(ly.data.simulate_registry(n=300), preset="none")})
    >>> "/api/rank" in [route.path for route in app.routes]
    True
    """
    if not models:
        raise RequestError("a service needs at least one model")
    service = Service(models, run, limits or Limits())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await service.close()

    app = FastAPI(title="Lifeyears", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.state.service = service
    _routes(app, service)
    _errors(app)
    app.mount("/", StaticFiles(directory=STATIC, html=True), name="page")
    app.add_middleware(Guard, hosts=hosts, token=token)
    return app


def _routes(app: FastAPI, service: Service) -> None:
    answers = service.answers
    document = describe_service(next(iter(answers.models.values())), list(answers.models), service.limits)

    @app.get("/openapi.json")
    async def openapi() -> Response:
        return _reply(document)

    @app.get("/api/health")
    async def health() -> Response:
        return _reply({"status": "ok", "version": __version__})

    @app.get("/api/model")
    async def model(request: Request) -> Response:
        return _reply(answers.describe(request.query_params.get("model")))

    @app.post("/api/rank")
    async def rank(request: Request) -> Response:
        return await service.answered(request, answers.rank, service.quick)

    @app.post("/api/explain")
    async def explain(request: Request) -> Response:
        return await service.answered(request, answers.explain, service.quick)

    @app.post("/api/evaluate")
    async def evaluate(request: Request) -> Response:
        return await service.answered(request, answers.evaluate, service.slow)

    @app.post("/api/simulations")
    async def simulate(request: Request) -> Response:
        return _reply(service.simulations.start(await service.settings(request)).content(), 202)

    @app.get("/api/simulations/{name}")
    async def simulation(name: str) -> Response:
        return _reply(service.simulations.get(name).content())

    @app.delete("/api/simulations/{name}")
    async def cancel(name: str) -> Response:
        return _reply((await service.simulations.cancel(name)).content())

    @app.get("/api/sample")
    async def sample(request: Request) -> Response:
        name = request.query_params.get("model")
        return await service.sampled(lambda: service.sample(name).content())

    @app.post("/api/sample")
    async def sample_of_donor(request: Request) -> Response:
        content = await service.settings(request)
        if not isinstance(content, dict) or not isinstance(content.get("changes", {}), dict):
            raise ApiError(422, "not_an_object", 'the request must be a JSON object, such as {"donor": 2}')
        number, changes, name = content.get("donor", 0), content.get("changes", {}), content.get("model")
        return await service.sampled(lambda: service.sample(name).run(number, changes))

    @app.get("/api/run")
    async def run() -> Response:
        if service.run is None:
            hint = "Start the service with the folder of a run: lifeyears serve --run FOLDER."
            raise ApiError(404, "no_run", "the service was started without a run", hint=hint)
        return _reply(service.run)


def _errors(app: FastAPI) -> None:
    @app.exception_handler(LifeyearsError)
    async def wrong(_: Request, error: LifeyearsError) -> Response:
        refusal = ApiError.of(error)
        if refusal.status == 500:
            log_error(error)
        reply = _reply(refusal.content(), refusal.status)
        if refusal.status == 429:
            reply.headers["retry-after"] = "1"
        return reply

    @app.exception_handler(HTTPException)
    async def unknown(_: Request, error: HTTPException) -> Response:
        words = {404: ("not_found", "there is nothing here"), 405: ("bad_method", "this cannot be done here")}
        code, message = words.get(error.status_code, ("bad_request", "the request cannot be answered"))
        reply = _reply(ApiError(error.status_code, code, message).content(), error.status_code)
        for name, value in (error.headers or {}).items():
            reply.headers[name] = value
        return reply
