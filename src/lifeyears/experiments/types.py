"""What a run is about and what it found, as types: arms, measures, findings, and the summary that is written as JSON.

Frozen data classes; `pydantic.TypeAdapter` reads, writes and describes them at the edges (`summary_schema`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .. import catalogue

if TYPE_CHECKING:
    import pandas as pd

NO_METHOD = "none"
ORACLE = "oracle"


@dataclass(frozen=True, order=True)
class Arm:
    """A row of the tables: a survival model, used as it is or as the base of a ranking method.

    Parameters
    ----------
    model : str
        Key of a survival model in `lifeyears.catalogue.models`, or "oracle" for the true expected life that a
        simulation knows.
    method : str, default "none"
        Key of a ranking method in `lifeyears.catalogue.rankers`; "none" is the model itself.

    Examples
    --------
    >>> Arm("Cox", "stacked").label, Arm("Cox").label
    ('Cox + stacked ranker', 'Cox')
    >>> Arm("Cox", "stacked").base
    Arm(model='Cox', method='none')
    """

    model: str
    method: str = NO_METHOD

    @property
    def label(self) -> str:
        """The name for people."""
        if self.model == ORACLE:
            return "Oracle (true expected life)"
        model = catalogue.models[self.model].label if self.model in catalogue.models else self.model
        if self.method == NO_METHOD:
            return model
        method = catalogue.rankers[self.method].label if self.method in catalogue.rankers else self.method
        return f"{model} + {method}"

    @property
    def base(self) -> Arm | None:
        """The arm that a ranking method is compared with: its base model as it is. None for other arms."""
        return None if self.method == NO_METHOD else Arm(self.model)

    @property
    def is_oracle(self) -> bool:
        """Whether this arm ranks by the truth, which only a simulation knows."""
        return self.model == ORACLE


@dataclass(frozen=True)
class Measure:
    """What is measured of an arm on one test fold.

    Parameters
    ----------
    relevance : str or None
        By what relevance: "truth" (the whole lifetime), "restricted" (the lifetime within the horizon), "expected" (the
        true expected life), or the key of an estimator in `lifeyears.catalogue.estimators`. None for measures of the
        outcome itself, such as the C-index.
    metric : str
        Key in `lifeyears.catalogue.metrics`.
    k : int, optional
        Places that count, as requested (a shorter list has fewer); None is the whole list.
    waitlist : int, optional
        Length of the lists averaged over, as requested (a smaller fold has shorter ones); None is the one list of the
        whole fold.
    nuisance : str, optional
        Key of the model behind an estimated relevance; None is the estimator's own choice, or the mean over models.
    time : float, optional
        The time at which a metric such as the AUC is taken.
    """

    relevance: str | None
    metric: str
    k: int | None = None
    waitlist: int | None = None
    nuisance: str | None = None
    time: float | None = None


Severity = Literal["answer", "serious", "warning", "note"]


@dataclass(frozen=True)
class Finding:
    """A conclusion, drawn once and rendered by the terminal, the report, the page and REST.

    Parameters
    ----------
    code : str
        A short identifier for programs, such as "best_model".
    severity : {"answer", "serious", "warning", "note"}
        "answer" is a result; "serious" must be read before it.
    title : str
        A few words.
    text : str
        One to three sentences.
    facts : mapping
        The numbers and names of the text, by name.
    """

    code: str
    severity: Severity
    title: str
    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Estimate:
    """A value with its 95% interval, and the two-sided p-value of zero where it is a difference."""

    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None


@dataclass(frozen=True)
class Difference:
    """What the best arm gains over another, paired; `clear` where the interval excludes zero."""

    arm: Arm
    gain: Estimate
    clear: bool


@dataclass(frozen=True)
class Answer:
    """The arm with the highest value, what it gains, and the arms that it cannot be told from."""

    best: Arm
    value: Estimate
    next: Difference | None
    base: Difference | None
    alike: tuple[Arm, ...]


@dataclass(frozen=True)
class Audit:
    """The arm that the C-index would have chosen, and what that choice costs."""

    by_c_index: Arm
    same: bool
    cost: Difference | None
    spearman: float | None
    bound_relevance: str


@dataclass(frozen=True)
class Waitlist:
    """The length of the lists that was requested and used, and the number of places that count."""

    requested: int
    used: int
    k: int


@dataclass(frozen=True)
class MethodNote:
    """A method of the run: its name for people, and its origin (distribution and version, or file and hash)."""

    key: str
    label: str
    origin: Mapping[str, str]


@dataclass(frozen=True)
class DataNote:
    """The data of a run: how many rows and events, their unit, and what reading them reported."""

    name: str
    rows: int
    used: int
    features: int
    events: int
    unit: str
    source: str
    simulated: bool
    has_entry: bool
    rows_read: int | None = None
    rows_kept: int | None = None
    dropped_rows: Mapping[str, int] = field(default_factory=dict)
    dropped_columns: Mapping[str, str] = field(default_factory=dict)
    filtered_values: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Support:
    """Whether everybody could have been followed to the horizon, and the words for each model of censoring."""

    violated: bool
    texts: Mapping[str, str]


NumberKind = Literal["count", "number", "time", "share", "points", "p", "scaled"]
ColumnKind = Literal["text", "model", "method", "relevance", "nuisance", "metric"] | NumberKind
ColumnRole = Literal["value", "low", "high", "sd", "stars", "p_wilcoxon", "p_corrected", "method", "nuisance"]


@dataclass(frozen=True)
class ColumnNote:
    """A column of a table: its key, its heading with the unit, and what it holds.

    Parameters
    ----------
    key : str
        Neutral name, the heading of the CSV file.
    heading : str
        The heading for people, with the unit of the data.
    kind : str
        How its values are written: "text"; "count", a whole number; "number"; "time", in the unit of the data; "share",
        shown in percent; "points", a difference of shares; "p", a p-value; "scaled", numbers on scales of their own.
        "model", "method", "relevance", "nuisance" and "metric" are keys of methods, shown by their labels.
    of : str, optional
        Key of the column that this one belongs to and is shown with: the ends of its interval, its standard deviation;
        the ranking method of a model, which together are an arm.
    role : str
        What it is to that column.
    """

    key: str
    heading: str
    kind: ColumnKind = "number"
    of: str | None = None
    role: ColumnRole = "value"


Value: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True)
class Table:
    """A table: its title, columns with their headings, and rows of plain values; None is a missing value.

    Examples
    --------
    >>> table = Table("Value", (ColumnNote("model", "model", "text"), ColumnNote("value", "years")), (("Cox", 14.4),))
    >>> table.records()
    [{'model': 'Cox', 'value': 14.4}]
    """

    title: str
    columns: tuple[ColumnNote, ...]
    rows: tuple[tuple[Value, ...], ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the columns."""
        return tuple(column.key for column in self.columns)

    def records(self) -> list[dict[str, Value]]:
        """Return the rows as dictionaries by key."""
        return [dict(zip(self.keys, row, strict=True)) for row in self.rows]

    def select(self, **values: Value) -> Table:
        """Return the rows that have these values in these columns."""
        places = {self.keys.index(key): value for key, value in values.items()}
        return replace(self, rows=tuple(r for r in self.rows if all(r[place] == v for place, v in places.items())))

    def drop(self, *keys: str) -> Table:
        """Return the table without some columns."""
        kept = [place for place, key in enumerate(self.keys) if key not in keys]
        rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[place] for place in kept), rows=rows)

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with the keys as columns; missing numbers are NaN."""
        import pandas as pd

        frame = pd.DataFrame(self.rows, columns=list(self.keys))
        numbers = [c.key for c in self.columns if c.kind in ("number", "time", "share", "points", "p", "scaled")]
        return frame.astype(dict.fromkeys(numbers, float))


@dataclass(frozen=True)
class Summary:
    """A finished run: all that the report, the page and REST are made of.

    Attributes
    ----------
    schema : int
        Version of this structure.
    version : str
        Version of Lifeyears.
    protocol : str
        "artificial" or "full".
    plan : mapping
        The options of the run.
    command : str
        The command that runs it again.
    data : DataNote
    models, rankers, estimators, metrics : tuple of MethodNote
        The methods of the run, in order.
    relevance, ndcg_relevance : str
        By what relevance values and NDCG are judged, as in `Measure.relevance`.
    intervals : {"folds", "patients"}
        Corrected resampled t over folds, or bootstrap-t over pooled patients.
    waitlist : Waitlist
    counts : mapping
        Weights clipped, fits that did not converge and the like.
    findings : tuple of Finding
        The conclusions, the gravest first.
    answer : Answer
    audit : Audit
    support : Support
    tables : mapping of str to Table
    """

    schema: int
    version: str
    protocol: str
    plan: Mapping[str, Any]
    command: str
    data: DataNote
    models: tuple[MethodNote, ...]
    rankers: tuple[MethodNote, ...]
    estimators: tuple[MethodNote, ...]
    metrics: tuple[MethodNote, ...]
    relevance: str
    ndcg_relevance: str
    intervals: Literal["folds", "patients"]
    waitlist: Waitlist
    counts: Mapping[str, int]
    findings: tuple[Finding, ...]
    answer: Answer
    audit: Audit
    support: Support
    tables: Mapping[str, Table]

    def of_severity(self, *severities: Severity) -> tuple[Finding, ...]:
        """Return the findings of some severities, in order."""
        return tuple(finding for finding in self.findings if finding.severity in severities)
