"""Errors, messages and warning categories: what programs and readers of each kind get."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn.exceptions

from lifeyears import errors
from lifeyears.errors import (
    ConvergenceWarning,
    DataError,
    DataWarning,
    FileReadError,
    FollowUpWarning,
    LifeyearsError,
    LifeyearsWarning,
    Message,
    MissingExtraError,
    MissingFileError,
    ModelFileError,
    PositivityWarning,
    PredictionWarning,
    RequestError,
    SampleSizeWarning,
    Setting,
    WorkError,
    json_terms,
    python_terms,
    render,
)


def option_terms(setting):
    """A dialect as a command line would have it."""
    name = "--" + setting.name.replace("_", "-")
    return name if setting.value is errors.NOT_GIVEN else f"{name} {setting.value}"


@pytest.mark.parametrize(
    ("setting", "python", "json", "option"),
    [
        (Setting("event_values", 2), "event_values=2", '"event_values": 2', "--event-values 2"),
        (Setting("event"), "event=", '"event"', "--event"),
        (Setting("models", ["Cox", "KM"]), "models=['Cox', 'KM']", '"models": ["Cox", "KM"]', "--models ['Cox', 'KM']"),
        (Setting("tau", None), "tau=None", '"tau": null', "--tau None"),
        (Setting("path", np.float64), None, None, None),
    ],
)
def test_each_reader_gets_their_own_terms(setting, python, json, option):
    if python is None:  # what JSON does not know is written as text
        assert "float64" in json_terms(setting)
        return
    assert (python_terms(setting), json_terms(setting), option_terms(setting)) == (python, json, option)


def test_a_message_is_text_in_python_terms_and_keeps_its_settings_when_nested():
    inner = Message("pass ", Setting("k", 1))
    outer = Message("Too long: ", inner, ".")
    assert isinstance(outer, str)
    assert outer == "Too long: pass k=1."
    assert outer.render(option_terms) == "Too long: pass --k 1."
    assert outer.parts == ("Too long: ", "pass ", Setting("k", 1), ".")
    assert render(outer, json_terms) == 'Too long: pass "k": 1.'
    assert render("plain", json_terms) == "plain"


def test_messages_and_errors_survive_a_process_boundary():
    message = Message("pass ", Setting("k", 1), " or ", Setting("waitlist"))
    again = pickle.loads(pickle.dumps(message))
    assert again == message
    assert again.render(option_terms) == "pass --k 1 or --waitlist"
    error = RequestError("k is 0", hint=message, k=0)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is RequestError
    assert str(again) == "k is 0. pass k=1 or waitlist="
    assert again.render(option_terms) == "k is 0. pass --k 1 or --waitlist"
    assert (again.code, again.parameters) == ("invalid_request", {"k": 0})


@pytest.mark.parametrize("end", [".", "?", "!"])
def test_problem_and_hint_are_two_sentences(end):
    assert str(RequestError(f"Is it so{end}", hint="Do this.")) == f"Is it so{end} Do this."
    assert str(RequestError("It is so", hint="Do this.")) == "It is so. Do this."
    assert str(RequestError("It is so")) == "It is so"


@pytest.mark.parametrize(
    ("error", "parents", "code"),
    [
        (RequestError, (LifeyearsError, ValueError), "invalid_request"),
        (DataError, (RequestError,), "invalid_data"),
        (FileReadError, (RequestError, OSError), "unreadable_file"),
        (MissingFileError, (FileReadError, FileNotFoundError), "missing_file"),
        (ModelFileError, (RequestError,), "invalid_model_file"),
        (MissingExtraError, (RequestError, ImportError), "missing_extra"),
        (WorkError, (LifeyearsError, RuntimeError), "work_failed"),
    ],
)
def test_errors_are_also_what_python_calls_them(error, parents, code):
    raised = error("it went wrong", hint="Try again.", path="a.csv")
    assert isinstance(raised, parents)
    assert (raised.code, raised.parameters) == (code, {"path": "a.csv"})
    assert (raised.problem, raised.hint) == ("it went wrong", "Try again.")
    assert str(raised) == "it went wrong. Try again."
    assert error("other", code="special").code == "special"
    assert not issubclass(WorkError, RequestError)


def test_warnings_are_told_apart_by_category():
    for category in (ConvergenceWarning, PositivityWarning, DataWarning, PredictionWarning):
        assert issubclass(category, LifeyearsWarning)
        assert issubclass(category, UserWarning)
    assert issubclass(FollowUpWarning, PositivityWarning)
    assert issubclass(SampleSizeWarning, DataWarning)


def test_a_fit_that_does_not_converge_names_its_model_and_is_scikit_learns_warning_too():
    from lifeyears.models import Cox

    X = np.linspace(-1, 1, 40)[:, None]
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        Cox(alpha=0.0).fit(X, (np.ones(40), 2.0 + X[:, 0]))  # the column orders the events: it separates them
    (warning,) = issued
    assert issubclass(warning.category, ConvergenceWarning)
    assert issubclass(warning.category, sklearn.exceptions.ConvergenceWarning)
    assert warning.message.model == "Cox"
    assert pickle.loads(pickle.dumps(ConvergenceWarning("slow", "Cox"))).model == "Cox"
