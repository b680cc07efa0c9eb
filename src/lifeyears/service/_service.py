"""The web service: routes, and how a request is read, does its work off the event loop, and is answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response
from fastapi import Path as PathParameter
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from fastapi.staticfiles import StaticFiles
from pydantic import ValidationError
from pydantic_core import from_json, to_json
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from .._version import __version__
from ..errors import LifeyearsError, RequestError
from ..scoring import RESEARCH_ONLY, MatchModel
from ._answers import Answers
from ._errors import ApiError, refuse_request
from ._guard import LOOPBACK, Guard, log_error
from ._limits import Limits
from ._models import (
    KEY,
    ErrorReply,
    EvaluateReply,
    ExplainReply,
    HealthReply,
    ModelReply,
    PoliciesReply,
    RankReply,
    Reply,
    RunReply,
    SampleReply,
    SimulationReply,
    make_request_models,
)
from ._run import view_run
from ._sample import Sample
from ._simulations import Simulations, describe_policies

if TYPE_CHECKING:
    from ..experiments.types import Summary

STATIC = Path(__file__).parent / "static"
JSON = "application/json"
ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "model": ErrorReply,
        "description": "The request cannot be answered: 400 not JSON, 401 no token, 403 another site's page, 404 not "
        "there, 405 another method, 408 too slow to arrive, 413 too large, 415 not application/json, 421 another host, "
        "422 a field, row or column is wrong, 429 too many requests.",
    },
    "5XX": {"model": ErrorReply, "description": "The work failed (500), or took too long (503)."},
}
_Result = TypeVar("_Result")
_Request = TypeVar("_Request")


@dataclass
class Held:
    """Bytes of a request that are in memory."""

    size: int = 0


class Service:
    """What the routes share: models, limits, and two lanes for work, so that a long evaluation delays no ranking."""

    def __init__(self, models: Mapping[str, MatchModel], run: Summary | None, limits: Limits) -> None:
        self.answers, self.limits = Answers(models), limits
        self.run = None if run is None else view_run(run)
        self.descriptions = {name: self._described(name) for name in models}
        self.simulations = Simulations(limits)
        self.samples: dict[MatchModel, Sample] = {}
        self.quick, self.slow = (ThreadPoolExecutor(1, thread_name_prefix=name) for name in ("rank", "evaluate"))
        self.waiting = self.waiting_bytes = 0

    def describe(self, name: str | None) -> ModelReply:
        """Return schema and card of a model, checked when the service was made."""
        model = self.answers.model(name)
        return next(self.descriptions[key] for key, value in self.answers.models.items() if value is model)

    def _described(self, name: str) -> ModelReply:
        try:
            return self.answers.describe(name)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise RequestError(f"the card of the model {name!r} cannot be served: {place}: {first['msg']}") from None

    def sample(self, name: str | None) -> Sample:
        """Return candidates and donors for a model."""
        model = self.answers.model(name)
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

    async def in_lane(self, lane: ThreadPoolExecutor, work: Callable[[], _Result]) -> _Result:
        """Do work off the event loop, within the time that there is for it."""
        try:
            async with asyncio.timeout(self.limits.work_seconds):
                return await asyncio.get_running_loop().run_in_executor(lane, work)
        except TimeoutError:
            raise ApiError(503, "too_slow", "the answer took too long: send fewer rows, or try again") from None

    async def answer(self, lane: ThreadPoolExecutor, answer: Callable[[], Reply]) -> Response:
        """Answer off the event loop, JSON and all."""
        return Response(await self.in_lane(lane, lambda: answer().to_json()), media_type=JSON)

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


class ParsedRequest(Request):
    """A request whose body was read and parsed, within the limits of the service."""

    def __init__(self, request: Request, content: object) -> None:
        super().__init__(request.scope, request.receive)
        self.content = content

    async def body(self) -> bytes:
        """Return something: FastAPI only asks whether there is a body, and takes its content from `json`."""
        return b"parsed"

    async def json(self) -> object:
        """Return the parsed body."""
        return self.content


def limited_route(service: Service, most: int, lane: ThreadPoolExecutor | None) -> type[APIRoute]:
    """Make a class of routes that read bodies of so many bytes at most, and parse them in a lane (None: at once)."""

    class LimitedRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def handle_within_limits(request: Request) -> Response:
                if request.method != "POST":
                    return await handle(request)
                async with service.body(request, most) as body:
                    content = (
                        parse_json(body) if lane is None else await service.in_lane(lane, partial(parse_json, body))
                    )
                    del body
                    return await handle(ParsedRequest(request, content))

            return handle_within_limits

    return LimitedRoute


def _reply(reply: Reply, status: int = 200) -> Response:
    return Response(reply.to_json(), status, media_type=JSON)


def _refuse(error: ApiError) -> Response:
    headers = {"retry-after": "1"} if error.status == 429 else None
    return Response(to_json(error.content()), error.status, headers, media_type=JSON)


def create_app(
    models: Mapping[str, MatchModel],
    run: Summary | None = None,
    token: str | None = None,
    hosts: tuple[str, ...] | None = LOOPBACK,
    limits: Limits | None = None,
) -> FastAPI:
    """The service for some models.

    Parameters
    ----------
    models : dict of str to MatchModel
        By the names under which they are asked for; the first is the one that answers unless another is named.
    run : Summary, optional
        The summary of a run, for Compare (`lifeyears.experiments.read_summary`).
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
    >>> app = create_app({"cox": fit_model(ly.data.simulate_registry(n=300), method="none")})
    >>> "/api/rank" in app.openapi()["paths"]
    True
    """
    if not models:
        raise RequestError("a service needs at least one model")
    service = Service(models, run, limits or Limits())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await service.close()

    app = FastAPI(
        title="Lifeyears",
        version=__version__,
        description=RESEARCH_ONLY,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service = service
    _routes(app, service, token)
    _errors(app)
    app.mount("/", StaticFiles(directory=STATIC, html=True), name="page")
    app.add_middleware(Guard, hosts=hosts, token=token)
    return app


def _routes(app: FastAPI, service: Service, token: str | None) -> None:
    answers, limits = service.answers, service.limits
    names = list(answers.models)
    requests = make_request_models(answers.model(None), names, limits)
    security = [Depends(HTTPBearer(auto_error=False))] if token is not None else []  # the guard checks it
    plain = APIRouter(responses=ERRORS)
    rows = {
        lane: APIRouter(
            responses=ERRORS, dependencies=security, route_class=limited_route(service, limits.body_bytes, lane)
        )
        for lane in (service.quick, service.slow)
    }
    settings = APIRouter(
        responses=ERRORS, dependencies=security, route_class=limited_route(service, limits.settings_bytes, None)
    )
    by_model = Query(None, description=f"{KEY} The first model unless given.", json_schema_extra={"enum": names})
    by_id = PathParameter(description="Identifier of a simulation.", json_schema_extra={"pattern": "^[0-9a-f]{16}$"})

    @plain.get("/api/health", response_model=HealthReply)
    async def health() -> Response:
        """Whether the service is up."""
        return _reply(HealthReply(status="ok", version=__version__))

    @settings.get("/api/model", response_model=ModelReply)
    async def model(model: str | None = by_model) -> Response:
        """The columns of a row, and the model's card."""
        return _reply(service.describe(model))

    def answer_rows(
        path: str,
        request: type[_Request],
        reply: type[Reply],
        answer: Callable[[_Request], Reply],
        lane: ThreadPoolExecutor,
        about: str,
    ) -> None:
        async def answer_request(content: Any) -> Response:
            return await service.answer(lane, lambda: answer(content))

        answer_request.__annotations__["content"] = request  # its model is made for this service, with its limits
        rows[lane].post(path, response_model=reply, name=path, summary=about)(answer_request)

    answer_rows("/api/rank", requests.rank, RankReply, answers.rank, service.quick, "Rank the candidates of one organ.")
    answer_rows(
        *("/api/explain", requests.explain, ExplainReply, answers.explain, service.quick),
        "Every contribution to a prediction, and survival curves.",
    )
    answer_rows(
        *("/api/evaluate", requests.evaluate, EvaluateReply, answers.evaluate, service.slow),
        "How well rows with a known outcome are ranked.",
    )

    @settings.get("/api/policies", response_model=PoliciesReply)
    async def policies() -> Response:
        """What can be simulated: policies, numbers and measures."""
        return _reply(describe_policies())

    async def simulate(content: Any) -> Response:
        """Begin a simulation."""
        return _reply(service.simulations.start(content).reply(), 202)

    simulate.__annotations__["content"] = requests.simulation
    settings.post("/api/simulations", response_model=SimulationReply, status_code=202)(simulate)

    @settings.get("/api/simulations/{id}", response_model=SimulationReply)
    async def simulation(id: str = by_id) -> Response:
        """How far a simulation is, and its result."""
        return _reply(service.simulations.get(id).reply())

    @settings.delete("/api/simulations/{id}", response_model=SimulationReply)
    async def cancel(id: str = by_id) -> Response:
        """Stop a simulation, and forget it."""
        return _reply((await service.simulations.cancel(id)).reply())

    @settings.get("/api/sample", response_model=SampleReply)
    async def sample(model: str | None = by_model) -> Response:
        """Candidates and donors to try."""
        with service.turn():
            return await service.answer(
                service.quick, lambda: SampleReply.model_validate(service.sample(model).content())
            )

    async def sample_of_donor(content: Any) -> Response:
        """The candidates of one sample donor."""
        sample = service.sample(content.model)
        return await service.answer(
            service.quick, lambda: SampleReply.model_validate(sample.run(content.donor, content.changes))
        )

    sample_of_donor.__annotations__["content"] = requests.sample
    settings.post("/api/sample", response_model=SampleReply)(sample_of_donor)

    @settings.get("/api/run", response_model=RunReply)
    async def run() -> Response:
        """The run that is compared."""
        if service.run is None:
            hint = "Start the service with the folder of a run: lifeyears serve --run FOLDER."
            raise ApiError(404, "no_run", "the service was started without a run", hint=hint)
        return _reply(service.run)

    for router in (plain, *rows.values(), settings):
        app.include_router(router)


def _errors(app: FastAPI) -> None:
    @app.exception_handler(LifeyearsError)
    async def wrong(_: Request, error: LifeyearsError) -> Response:
        refusal = ApiError.of(error)
        if refusal.status == 500:
            log_error(error)
        return _refuse(refusal)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        return _refuse(refuse_request(error.errors()))

    @app.exception_handler(HTTPException)
    async def unknown(_: Request, error: HTTPException) -> Response:
        words = {404: ("not_found", "there is nothing here"), 405: ("bad_method", "this cannot be done here")}
        code, message = words.get(error.status_code, ("bad_request", "the request cannot be answered"))
        reply = _refuse(ApiError(error.status_code, code, message))
        for name, value in (error.headers or {}).items():
            reply.headers[name] = value
        return reply
