"""StackedRanker: a weighted sum of a survival model and members that are cross-fitted to the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from sklearn.utils.metaestimators import _BaseComposition

from ..._threads import one_thread
from ...checks import check_choice, check_whole
from ...errors import Message, RequestError, Setting
from ...outcome import resolve_horizon
from .._estimator import count_threads
from .._labelling import Labelling
from .._rankers import Ranker
from .._rows import check_relevance, read_outcomes
from .._shared import SharedWork
from ._effort import WORK, Effort, make_members
from ._fitting import Stacking
from ._members import Member, ModelMember, resolve_member

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..._typing import RandomState, TableLike
    from ...outcome import OutcomeLike


class StackedRanker(Ranker, _BaseComposition):
    """A weighted sum of the base model and of members, weighted by what they predict for rows left out.

    Each member is fitted once per fold, on the other folds. Weights are non-negative least squares on doubly robust
    outcomes of the rows left out, shrunk towards weights that are the same for all data; boosted members are kept at
    the simplest stage that is about as good as the best. The sum is calibrated to years. Where the top of its list is
    clearly worse than the base model's, the base model is used alone.

    Parameters
    ----------
    base : survival model, optional
        Any model of `lifeyears.models`, or one that `lifeyears.models.wrap` accepts; None means Cox. It is fitted to
        the matrix that `preprocessor_` makes, without column names.
    tau : float, optional
        The horizon; None means the largest training time.
    effort : {"fast", "balanced", "best"}, default "balanced"
        How many members and folds there are unless `members` and `folds` are passed. "balanced" performed best in our
        experiments for its time (docs/method.md): boosted years, boosted hazards, spline hazards and spline
        interactions over five folds. "fast" has boosted hazards and spline hazards over three folds; "best" is
        "balanced" over ten folds.
    members : sequence of (str, estimator), optional
        The members by name: those of `lifeyears.ranking.stacked`, or survival models that `lifeyears.models.wrap`
        accepts. An empty sequence leaves the base model alone. `lifeyears.ranking.stacked.make_members` makes lists.
    with_base : bool, default True
        Whether the base model is a member too.
    folds : int, optional
        Number of folds, at least 2; by default that of the effort.
    label : {"ey", "dr"}, default "dr"
        What boosted years learn from: doubly robust labels, or expected years by the base model. Either is computed by
        models that were fitted without the row.
    censoring : survival model, optional
        Model of the censoring times, for doubly robust labels and outcomes; None means Cox.
    random_state : int, RandomState or None
        Seed of all random choices.
    n_jobs : int, optional
        Number of folds fitted in parallel (in processes, from 5,000 rows on); None means one per core, or one inside a
        worker process. It does not change the result.
    verbose : bool, default False
        Whether to show progress.

    Attributes
    ----------
    base_ : fitted base model, or None if relevance was given
    tau_ : float
        The horizon.
    members_ : dict of str to list
        Fitted members, one per fold.
    weights_ : dict of str to float
        Weights of the members and of "base".
    pseudo_labels_ : array, shape (n,)
    report_ : RankerReport
    preprocessor_ : TablePreprocessor
        Turns tables, with categories and missing values, into a matrix.
    held_out_ : array or None
        Years predicted for training rows by members and a calibration that were fitted without them (only the number of
        trees was chosen with them).
    held_out_outcomes_ : array or None
        Doubly robust outcomes of these rows.

    See Also
    --------
    BootstrappedRanker : The paper's ranker.

    References
    ----------
    Wolpert, D. H. (1992). Stacked generalization. Neural Networks 5, 241-259.
    van der Laan, M. J., Polley, E. C., Hubbard, A. E. (2007). Super learner. Statistical Applications in Genetics and
    Molecular Biology 6 (1).

    Examples
    --------
    >>> import lifeyears as ly
    >>> d = ly.data.simulate_registry(n=600)
    >>> ranker = StackedRanker(tau=10, effort="fast", random_state=0).fit(d.X, d.y)
    >>> ranker.predict(d.X).shape, ranker.tau_
    ((600,), 10.0)
    """

    def __init__(
        self,
        base: object | None = None,
        tau: float | None = None,
        effort: Effort = "balanced",
        members: Sequence[tuple[str, object]] | None = None,
        with_base: bool = True,
        folds: int | None = None,
        label: Literal["ey", "dr"] = "dr",
        censoring: object | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.base = base
        self.tau = tau
        self.effort = effort
        self.members = members
        self.with_base = with_base
        self.folds = folds
        self.label = label
        self.censoring = censoring
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with those of the members as ``<name>__<parameter>``.

        Parameters
        ----------
        deep : bool, default True
            Whether to include the parameters of the base model and of the members.

        Returns
        -------
        dict of str to value
        """
        parameters: dict[str, Any] = self._get_params("members", deep=deep)
        return parameters

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, those of the members as ``<name>__<parameter>``.

        Parameters
        ----------
        **parameters
            Values by name.

        Returns
        -------
        self
        """
        self._set_params("members", **parameters)
        return self

    def fit_sharing(self, X: TableLike, y: OutcomeLike, shared: SharedWork) -> Self:
        matrix = self._training_matrix(X, shared)
        members, folds, seed = self._resolve_members(), self._resolve_folds(), self._draw_seed()
        outcome = read_outcomes(y, len(matrix), type(self).__name__)
        self.tau_ = resolve_horizon(self.tau, outcome)
        labelling = Labelling(self.base, self.censoring, self.tau_, self.label, literal=False, seed=seed)
        with one_thread():
            fit = self._stacking(members, folds, seed).fit_outcomes(matrix, outcome, labelling)
        return self._store(fit, matrix)

    def fit_relevance(self, X: TableLike, relevance: ArrayLike) -> Self:
        """Fit to known relevance those members that learn from labels: there is no base model.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            Features; they may hold categories and missing values.
        relevance : array of numbers, shape (n,)
            What each row is worth; higher is better. Nothing may be censored.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(400, 2))
        >>> members = make_members(names=["boosted_years"], n_estimators=50)
        >>> ranker = StackedRanker(members=members, random_state=0).fit_relevance(X, X[:, 0])
        >>> bool(np.corrcoef(ranker.predict(X), X[:, 0])[0, 1] > 0.9)
        True
        """
        matrix = self._training_matrix(X, SharedWork())
        members, folds, seed = self._resolve_members(), self._resolve_folds(), self._draw_seed()
        values = check_relevance(relevance, len(matrix))
        self.tau_ = float(values.max())
        with one_thread():
            fit = self._stacking(members, folds, seed).fit_relevance(matrix, values)
        return self._store(fit, matrix)

    def _stacking(self, members: dict[str, Member | ModelMember], folds: int, seed: int) -> Stacking:
        return Stacking(
            members=members,
            with_base=self.with_base,
            folds=folds,
            tau=self.tau_,
            seed=seed,
            threads=count_threads(self.n_jobs),
            verbose=self.verbose,
        )

    def _resolve_members(self) -> dict[str, Member | ModelMember]:
        """Return unfitted copies of the members by name, with their settings checked."""
        check_choice("effort", self.effort, tuple(WORK))
        check_choice("label", self.label, ("ey", "dr"))
        pairs = make_members(self.effort) if self.members is None else self.members
        try:
            named = {name: resolve_member(name, member) for name, member in pairs}
        except (TypeError, ValueError) as error:
            if isinstance(error, RequestError):
                raise
            raise RequestError(
                f"members must be pairs of a name and an estimator; got {self.members!r}",
                hint=Message("Pass ", Setting("members", [("spline_hazards", "SplineHazards()")]), "."),
            ) from error
        if len(named) < len(pairs) or not all(isinstance(name, str) and name != "base" for name in named):
            raise RequestError(
                'the names of members must differ from each other and from "base", which is the base model\'s'
            )
        if not named and not self.with_base:
            raise RequestError(
                "there is nothing to rank by: no members, and no base model",
                hint=Message("Use ", Setting("with_base", True), ", or pass ", Setting("members"), "."),
            )
        for member in named.values():
            member.check()
        return named

    def _resolve_folds(self) -> int:
        return check_whole("folds", WORK[self.effort].folds if self.folds is None else self.folds, 2)
