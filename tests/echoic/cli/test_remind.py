"""When a reminder is due, as people write it."""

from datetime import UTC, datetime

import pytest

from echoic.cli.remind import in_words, moment
from echoic.errors import EchoicError
from echoic.packs.phrases import shipped
from schemas.values.recurrence import EVERY_DAY, Repeat

NOW = datetime(2026, 3, 28, 17, 30, tzinfo=UTC)
"""18:30 in Berlin, on the eve of summer time."""


@pytest.mark.parametrize(
    ("text", "zone", "due"),
    [
        ("18:00", "UTC", "2026-03-28T18:00"),
        ("17:00", "UTC", "2026-03-29T17:00"),
        # Past there; tomorrow's 18:00 is two hours from UTC.
        ("18:00", "Europe/Berlin", "2026-03-29T16:00"),
        ("19:00", "Europe/Berlin", "2026-03-28T18:00"),
        ("2026-04-01T08:15", "Europe/Berlin", "2026-04-01T06:15"),
        ("2026-04-01T08:15+00:00", "Europe/Berlin", "2026-04-01T08:15"),
    ],
)
def test_a_time_is_the_next_one_in_the_settings_zone(
    text: str, zone: str, due: str
) -> None:
    """A date with a time is taken as it is."""
    assert moment(text, zone, NOW) == datetime.fromisoformat(due).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["six", "", "25:00", "2026-13-01T08:00", "9999-12-31T23:00"]
)
def test_what_is_no_time_is_told_so(text: str) -> None:
    """With one that works."""
    with pytest.raises(EchoicError):
        moment(text, "America/New_York", NOW)


def test_words_are_understood_as_those_of_a_person() -> None:
    """In the zone of the settings; each with how often it comes again."""
    known = shipped(("en", "de"))

    assert in_words("tomorrow at nine", known, "Europe/Berlin", NOW) == (
        (datetime(2026, 3, 29, 7, 0, tzinfo=UTC), None),
    )
    assert in_words("jeden Tag um 8 und um 20 Uhr", known, "Europe/Berlin", NOW) == (
        (datetime(2026, 3, 29, 6, tzinfo=UTC), Repeat(weekdays=EVERY_DAY, hour=8)),
        (datetime(2026, 3, 28, 19, tzinfo=UTC), Repeat(weekdays=EVERY_DAY, hour=20)),
    )


@pytest.mark.parametrize("text", ["", "next week", "tomorrow", "today at 1 am", "-5"])
def test_words_that_are_not_understood_are_refused(text: str) -> None:
    """And so is what is past."""
    with pytest.raises(EchoicError):
        in_words(text, shipped(("en",)), "Europe/Berlin", NOW)
