"""Errors that know their reader (what was found, what was expected, what to do next), and categories of warnings.

The library names a setting by the name it has in Python, as a `Setting` inside a `Message`. Each layer renders it in
its own terms: Python as ``event_values=2``, the command line as ``--event-values 2``, REST as ``"event_values": 2``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar


class _NotGiven:
    def __repr__(self) -> str:
        return "NOT_GIVEN"

    def __reduce__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN = _NotGiven()


@dataclass(frozen=True)
class Setting:
    """A setting that a message refers to.

    Parameters
    ----------
    name : str
        The name of the parameter in Python.
    value : object, optional
        The value to suggest. Without it, only the setting is named.

    Examples
    --------
    >>> python_terms(Setting("event_values", 2)), python_terms(Setting("event_values"))
    ('event_values=2', 'event_values=')
    """

    name: str
    value: object = NOT_GIVEN


Dialect = Callable[[Setting], str]


def python_terms(setting: Setting) -> str:
    """Render a setting as a keyword argument."""
    return f"{setting.name}=" if setting.value is NOT_GIVEN else f"{setting.name}={setting.value!r}"


def json_terms(setting: Setting) -> str:
    """Render a setting as a field of a JSON object."""
    name = json.dumps(setting.name)
    return name if setting.value is NOT_GIVEN else f"{name}: {json.dumps(setting.value, default=str)}"


class Message(str):
    """Text that may name settings; as a string it is in Python's terms.

    Parameters
    ----------
    *parts : str or Setting
        Pieces of the text, in order. A `Message` among them keeps its settings.

    Examples
    --------
    >>> text = Message("Name the column of the outcome with ", Setting("event"), ".")
    >>> str(text)
    'Name the column of the outcome with event=.'
    >>> text.render(json_terms)
    'Name the column of the outcome with "event".'
    """

    parts: tuple[str | Setting, ...]

    def __new__(cls, *parts: str | Setting) -> Message:
        flat: list[str | Setting] = []
        for part in parts:
            flat.extend(part.parts if isinstance(part, Message) else (part,))
        message = super().__new__(cls, "".join(p if isinstance(p, str) else python_terms(p) for p in flat))
        message.parts = tuple(flat)
        return message

    def render(self, dialect: Dialect) -> str:
        """Return the text with every setting in the reader's terms."""
        return "".join(part if isinstance(part, str) else dialect(part) for part in self.parts)

    def __reduce__(self) -> tuple[type[Message], tuple[str | Setting, ...]]:
        return Message, self.parts


def render(text: str, dialect: Dialect) -> str:
    """Render a text in the reader's terms; plain text is returned as it is."""
    return text.render(dialect) if isinstance(text, Message) else str(text)


class LifeyearsError(Exception):
    """Base class of the errors that Lifeyears raises on purpose.

    Parameters
    ----------
    problem : str or Message
        What was found, where, and what was expected.
    hint : str or Message, optional
        What to do next, as one or more sentences.
    code : str, optional
        A short identifier for programs; each class has a default.
    **parameters : object
        The facts of the message, by name, for programs: a column, a row, a path.

    Examples
    --------
    >>> error = RequestError("k must be at least 1; got 0", hint=Message("Pass ", Setting("k", 1), "."), k=0)
    >>> str(error)
    'k must be at least 1; got 0. Pass k=1.'
    >>> error.render(json_terms), error.code, error.parameters
    ('k must be at least 1; got 0. Pass "k": 1.', 'invalid_request', {'k': 0})
    """

    default_code: ClassVar[str] = "error"

    def __init__(self, problem: str, *, hint: str = "", code: str | None = None, **parameters: object) -> None:
        text = Message(problem, ("" if problem.endswith((".", "?", "!")) else ".") + " ", hint) if hint else problem
        super().__init__(text)
        self.problem, self.hint, self.parameters = problem, hint, parameters
        self.code = code or self.default_code

    def render(self, dialect: Dialect) -> str:
        """Return the whole text, problem and hint, in the reader's terms."""
        return render(self.args[0], dialect)

    def __str__(self) -> str:
        return str(self.args[0])


class RequestError(LifeyearsError, ValueError):
    """The request was wrong: an argument, an option, a column or a file. Exit code 2, HTTP status 4xx."""

    default_code = "invalid_request"


class DataError(RequestError):
    """The data cannot be used as they are."""

    default_code = "invalid_data"


class FileReadError(RequestError, OSError):
    """A file or folder that the request names cannot be read or written."""

    default_code = "unreadable_file"


class MissingFileError(FileReadError, FileNotFoundError):
    """A file or folder that the request names does not exist."""

    default_code = "missing_file"


class ExistingFileError(FileReadError, FileExistsError):
    """A file or folder that the request would write exists and must not be replaced."""

    default_code = "existing_file"


class UnsupportedModelError(RequestError, TypeError):
    """A model or object of a kind that the requested operation does not support."""

    default_code = "unsupported_model"


class ModelFileError(RequestError):
    """A saved model that is damaged, forged, or of an unknown kind."""

    default_code = "invalid_model_file"


class MissingExtraError(RequestError, ImportError):
    """An optional package that the request needs is not installed."""

    default_code = "missing_extra"


class WorkError(LifeyearsError, RuntimeError):
    """The request was right and the work failed. Exit code 1, HTTP status 5xx."""

    default_code = "work_failed"


class LifeyearsWarning(UserWarning):
    """Base class of the warnings that Lifeyears issues on purpose.

    Programs tell warnings apart by their category, never by their text.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as issued:
    ...     warnings.simplefilter("always")
    ...     warnings.warn(FollowUpWarning("the horizon lies beyond the longest follow-up"), stacklevel=1)
    >>> [issubclass(each.category, PositivityWarning) for each in issued]
    [True]
    """


class ConvergenceWarning(LifeyearsWarning):
    """A fit did not reach its optimum.

    The warnings that our models issue are of scikit-learn's category of this name, too.

    Parameters
    ----------
    message : str
    model : str, optional
        The name of the model, for programs that count such fits.
    """

    def __init__(self, message: str, model: str = "") -> None:
        super().__init__(message)
        self.model = model


class PositivityWarning(LifeyearsWarning):
    """The horizon is not supported: some subjects cannot be followed that long, so weights are large or clipped."""


class FollowUpWarning(PositivityWarning):
    """The horizon lies beyond the longest follow-up: what happens in between is not in the data."""


class DataWarning(LifeyearsWarning):
    """Something in the data is suspicious, such as a column that seems to be coded in another way than in training."""


class SampleSizeWarning(DataWarning):
    """There are too few rows for what was asked of them; intervals cover less often than their level."""


class PredictionWarning(LifeyearsWarning):
    """Scores or relevance look wrong for the measure they were passed to, such as scores of the opposite sign."""
