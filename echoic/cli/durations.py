"""Spans of time as people write them in commands."""

import re

from echoic.config import option as forms
from echoic.errors import EchoicError
from schemas.values.spoken_times import in_figures

_IN_SECONDS = re.compile(r"\b(\d+(?:\.\d+)?(?:e\+\d+)?) s\b")


def in_units(told: str) -> str:
    """Return what the log tells with its seconds in minutes, hours or days."""
    return _IN_SECONDS.sub(lambda found: in_figures(float(found[1])), told)


def seconds(text: str, example: str) -> float:
    """Return the seconds of a span such as `90`, `90s`, `10m`, `2h` or `1d`.

    Raises:
        EchoicError: it is none; `example` is shown as a command that works.
    """
    span_s = forms.span_s(text)
    if not span_s:
        raise EchoicError(
            f"{text!r} is no span of time: give 90s, 10m, 2h or 1d", next_step=example
        )
    return span_s
