"""What a member of the stacked ranker is, and the rows it is fitted to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self, cast

import numpy as np
from sklearn.base import clone

from ..._threads import one_thread
from ..._typing import FloatArray
from ...errors import RequestError
from ...folds import draw_folds
from ...models import SurvivalModel, wrap
from ...outcome import Outcome, resolve_horizon
from .._calibration import CalibrationMap
from .._estimator import RankingEstimator
from .._fit import RankerFit
from .._labelling import Labelling
from .._parts import FittedPart, ModelPart
from .._report import RankerReport
from .._rows import check_relevance, read_outcomes
from .._shared import SharedWork
from ..cloning import clone_model
from ..labels import PseudoLabels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..._typing import TableLike
    from ...outcome import OutcomeLike

LABEL_FOLDS = 5


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows that members are fitted to.

    Attributes
    ----------
    X : array, shape (n, p)
    y : Outcome or None
        None if relevance is known.
    labels, gains : arrays, shape (n,)
        Pseudo-labels or relevance, and their gains within NDCG.
    tau : float
        The horizon.
    seed : int
    n_cohort : int
        Number of rows of the whole cohort, of which these may be the training folds.
    shared : SharedWork
        What several members need: the binned table, the spline fit from which interactions start.
    """

    X: FloatArray
    y: Outcome | None
    labels: FloatArray
    gains: FloatArray
    tau: float
    seed: int
    n_cohort: int
    shared: SharedWork = field(default_factory=SharedWork)

    @property
    def outcomes(self) -> Outcome:
        """The observed times and events."""
        return cast("Outcome", self.y)


@dataclass(frozen=True, eq=False)
class FoldFit:
    """One member fitted on one fold.

    Attributes
    ----------
    held_out : array, shape (stages, n_test)
        Predictions after each stage for the rows left out.
    stages : list
        The fitted member at each stage.
    converged : bool
        Whether its fit converged.
    """

    held_out: FloatArray
    stages: list[FittedPart]
    converged: bool = True


class Member(RankingEstimator):
    """A member of the stacked ranker, which can also be used alone.

    `StackedRanker` calls `fit_stages` for each fold; alone, `fit` fits the last stage to all rows.
    """

    target_weight: ClassVar[float] = 1.0
    """Weight relative to other members towards which the fitted weights are shrunk."""
    needs_labels: ClassVar[bool] = False
    """Whether it learns from labels, and therefore from known relevance too; others learn from times and events."""

    tau: float | None

    def fit_stages(self, rows: TrainingRows, new: FloatArray) -> FoldFit:
        """Fit to some rows, and predict others after each stage.

        Parameters
        ----------
        rows : TrainingRows
        new : array, shape (m, p)
            The rows left out.

        Returns
        -------
        FoldFit
        """
        raise NotImplementedError

    def check(self) -> None:
        """Refuse settings that cannot be used."""

    def fit_sharing(self, X: TableLike, y: OutcomeLike, shared: SharedWork) -> Self:
        matrix = self._training_matrix(X, shared)
        self.check()
        seed = self._draw_seed()
        outcome = read_outcomes(y, len(matrix), type(self).__name__)
        self.tau_ = resolve_horizon(self.tau, outcome)
        with one_thread():
            labels = self._label(matrix, outcome, seed)
            values = outcome.time if labels is None else labels.values
            gains = np.clip(values, 0.0, self.tau_)
            rows = TrainingRows(matrix, outcome, values, gains, self.tau_, seed, len(matrix))
            return self._store_last_stage(rows, labels, CalibrationMap.identity(self.tau_))

    def _label(self, X: FloatArray, y: Outcome, seed: int) -> PseudoLabels | None:
        """Return the labels to learn from: doubly robust years, cross-fitted with Cox models."""
        if not self.needs_labels:
            return None
        splits = draw_folds(y.event, min(LABEL_FOLDS, len(y)), random_state=seed)
        return Labelling(None, None, self.tau_, "dr", literal=False, seed=seed).cross_fit_labels(X, y, splits)

    def _store_last_stage(
        self, rows: TrainingRows, labels: PseudoLabels | None, calibration: CalibrationMap, on_relevance: bool = False
    ) -> Self:
        fit = self.fit_stages(rows, rows.X[:1])
        part, name = fit.stages[-1], type(self).__name__
        report = RankerReport(
            labels=labels,
            weights={name: 1.0},
            rounds={} if part.rounds is None else {name: part.rounds},
            terms={} if part.n_terms is None else {name: part.n_terms},
            kept_base=False,
            calibrated=False,
            notes=() if fit.converged else ("Newton's method did not converge",),
            on_relevance=on_relevance,
        )
        whole = RankerFit(
            base=None,
            members={name: [part]},
            weights={name: 1.0},
            intercept=0.0,
            calibration=calibration,
            labels=rows.labels,
            held_out=None,
            held_out_outcomes=None,
            report=report,
        )
        return self._store(whole, rows.X)


class LabelMember(Member):
    """A member that learns from labels, and therefore from known relevance too."""

    needs_labels: ClassVar[bool] = True

    def fit_relevance(self, X: TableLike, relevance: ArrayLike) -> Self:
        """Fit to known relevance.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            Features; they may hold categories and missing values.
        relevance : array of numbers, shape (n,)
            What each row is worth; higher is better. Nothing may be censored.

        Returns
        -------
        self
        """
        matrix = self._training_matrix(X, SharedWork())
        self.check()
        values = check_relevance(relevance, len(matrix))
        self.tau_ = float(values.max())
        gains = values - min(values.min(), 0.0)
        rows = TrainingRows(matrix, None, values, gains, self.tau_, self._draw_seed(), len(matrix))
        with one_thread():
            return self._store_last_stage(rows, None, CalibrationMap.identity(), on_relevance=True)


@dataclass(frozen=True, eq=False)
class ModelMember:
    """A survival model as a member: fitted to times and events, predicting by its restricted mean."""

    target_weight: ClassVar[float] = 1.0
    needs_labels: ClassVar[bool] = False

    model: SurvivalModel

    def check(self) -> None:
        """Leave the checks to the model."""

    def fit_stages(self, rows: TrainingRows, new: FloatArray) -> FoldFit:
        """Fit to some rows, and predict others."""
        fitted = clone_model(self.model, rows.tau, rows.seed).fit(rows.X, rows.outcomes)
        return FoldFit(np.asarray(fitted.predict(new))[None], [ModelPart(fitted)])


def resolve_member(name: str, member: object) -> Member | ModelMember:
    """Return an unfitted copy of a member; survival models are adapted.

    Raises
    ------
    RequestError
        If it is neither a member nor a model that `lifeyears.models.wrap` accepts.
    """
    if isinstance(member, Member):
        copy: Member = clone(member)
        return copy
    try:
        return ModelMember(wrap(member))
    except (TypeError, ValueError) as error:
        raise RequestError(
            f"members: {name!r} is a {type(member).__name__}, which is neither a member of lifeyears.ranking.stacked "
            f"nor a survival model: {error}",
            name=name,
        ) from error
