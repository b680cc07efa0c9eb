"""Whether a plan can be carried out on a data set, before anything is computed."""

from __future__ import annotations

from importlib import metadata

from ...data import Dataset
from ...data.dataset import require_features
from ...errors import DataError, Message, MissingExtraError, RequestError, Setting
from ...models import refuse_time_zero
from .._plan import Plan
from ..columns import ERA_NAMES, find_era_columns
from ._cohort import censor_outcome, select_rows
from ._folds import censor_at_test_entry, split_rows


def check_feasible(data: Dataset, plan: Plan) -> None:
    """Refuse, before anything is computed, what would fail half-way.

    Parameters
    ----------
    data : Dataset
    plan : Plan

    Raises
    ------
    RequestError
        If the plan asks for what the data set does not have, or for more folds than its events allow.
    """
    _check_columns(data, plan)
    _check_models(data, plan)
    rows = select_rows(data, plan)
    if not len(rows):
        raise DataError("no event was observed: is the event column the right way round?")
    if plan.folds > len(rows):
        raise DataError(
            f"{plan.folds:,} folds need as many rows; there are {len(rows):,}",
            hint=Message("Use fewer with ", Setting("folds"), "."),
        )
    for iteration in range(plan.iterations):
        y = censor_outcome(data.y[rows], plan, iteration)
        splits = split_rows(data, rows, y, plan, iteration)
        if len(splits) < plan.folds:
            raise DataError(
                f"the times of entry make {len(splits)} folds, not {plan.folds}",
                hint=Message("Use ", Setting("folds", max(2, len(splits))), "."),
            )
        for fold, (train, test) in enumerate(splits):
            events = min(y[test].n_events, censor_at_test_entry(data, rows, y, plan, train, test).n_events)
            if events < 2 * plan.nuisance_folds:
                raise DataError(
                    f"fold {fold + 1} has {events} events and needs {2 * plan.nuisance_folds}: the data have "
                    f"{y.n_events} events in {len(y):,} rows",
                    hint=Message("Use fewer folds (", Setting("folds"), ") or more data."),
                )


def _check_columns(data: Dataset, plan: Plan) -> None:
    if plan.era == "within" and data.entry is None:
        raise DataError(
            'era="within" needs the time of entry, which this data set does not have',
            hint=Message("Name its column with ", Setting("entry"), "."),
        )
    dropped = find_era_columns(data) if plan.era == "drop" else []
    if plan.era == "drop" and not dropped:
        raise DataError(f'era="drop" finds none of {", ".join(ERA_NAMES)} among the columns')
    require_features(data.name, data.X.shape[1] - len(dropped))
    absent = [name for name in plan.subgroups if name not in data.table]
    if absent:
        columns = ", ".join(map(str, data.table.columns))
        raise RequestError(f"subgroups are asked for by {', '.join(absent)}; the columns are {columns}")


def _check_models(data: Dataset, plan: Plan) -> None:
    if "AFT" in plan.models:
        others = [model for model in plan.models if model != "AFT"] or ["KM", "Cox"]
        refuse_time_zero(data.y, Message("leave AFT out: ", Setting("models", others)))
    for spec in plan.methods_of("models"):
        missing = _list_missing(spec.extra)
        if missing:
            raise MissingExtraError(
                f"{spec.label} needs {', '.join(missing)}, which is not installed",
                hint=Message(
                    f'Install it with pip install "lifeyears[{spec.extra}]", or choose other models with ',
                    Setting("models"),
                    ".",
                ),
                extra=spec.extra,
            )


def _list_missing(extra: str | None) -> list[str]:
    """List the packages of an extra that are not installed."""
    from packaging.requirements import Requirement

    try:
        lines = metadata.requires("lifeyears") or [] if extra else []
    except metadata.PackageNotFoundError:  # from a source tree that is not installed: the fit will tell
        return []
    required = [Requirement(line) for line in lines]
    named = [each.name for each in required if each.marker is not None and each.marker.evaluate({"extra": extra or ""})]
    return [name for name in named if not _is_installed(name)]


def _is_installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True
