"""Moments whose meaning is plain are read as two libraries read them.

recurrent knows English, ctparse both languages; neither knows and refuses what ours must,
so only days and times without a convention of one's own are compared.
"""

import logging
import re
from datetime import datetime
from itertools import product

import pytest
from ctparse.ctparse import ctparse
from ctparse.types import Time
from recurrent import RecurringEvent

from schemas.values import timezones
from tests.handlers.mind.test_moments import NOW, ZONE, told

THERE = timezones.local(NOW, ZONE).replace(tzinfo=None)
"""The libraries know no zones."""

ENGLISH = [
    f"remind me {day} at {time} to call"
    for day, time in product(
        ("tomorrow", "on Monday", "on December 3rd"),
        ("3 pm", "14:30", "9 am", "7:15pm"),
    )
]
GERMAN = [
    f"erinnere mich {day} um {time} an Lee"
    for day, time in product(
        ("morgen", "übermorgen", "am Montag", "am 3. Dezember"),
        ("7 Uhr", "14 Uhr", "halb neun", "20:15 Uhr"),
    )
]


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_read_as_recurrent_reads_it(text: str) -> None:
    """A day and a time of it."""
    found = RecurringEvent(now_date=THERE).parse(text)

    assert isinstance(found, datetime)
    assert told(text) == _shown(found)


@pytest.mark.parametrize("text", GERMAN)
def test_german_is_read_as_ctparse_reads_it(text: str) -> None:
    """A day and a time of it."""
    logging.getLogger("ctparse").setLevel(logging.ERROR)
    when = re.sub(r"^erinnere mich | an Lee$", "", text)
    found = ctparse(when, ts=THERE, timeout=0)

    assert found is not None
    assert isinstance(found.resolution, Time)
    assert told(text) == _shown(found.resolution.dt)


def _shown(moment: datetime) -> str:
    return f"{moment:%m-%d %H:%M}"
