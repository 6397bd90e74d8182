"""Spans of time as people write them in commands."""

import re

from echoic.config import option as forms
from echoic.errors import EchoicError
from schemas.values.spoken_times import in_figures

_IN_SECONDS = re.compile(r"\b(\d+(?:\.\d+)?(?:e\+\d+)?) s\b")


_LONG = re.compile(r"0*[1-9]\d*(\.\d*)?[smhd]?")
"""A span in its form, however many digits it has."""


def in_units(told: str) -> str:
    """Return what the log tells with its seconds in minutes, hours or days."""
    return _IN_SECONDS.sub(lambda found: in_figures(float(found[1])), told)


def seconds(text: str, example: str) -> float:
    """Return the seconds of a span such as `90`, `90s`, `10m`, `2h` or `1d`.

    Raises:
        EchoicError: it is none, or too long; `example` is shown as a command that works.
    """
    span_s = forms.span_s(text)
    if not span_s and _LONG.fullmatch(text):
        raise EchoicError(
            f"{text!r} is too long a span of time: the longest is 11574d",
            next_step=example,
        )
    if not span_s:
        raise EchoicError(
            f"{text!r} is no span of time: give 90s, 10m, 2h or 1d", next_step=example
        )
    return span_s
