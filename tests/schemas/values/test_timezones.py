"""Time zones: from the wheel, by harmless names, the same at every hour of the change."""

from datetime import UTC, datetime
from importlib import metadata

import pytest

from echoic.config import option
from schemas.values import timezones


def test_a_zone_has_its_summer() -> None:
    """Berlin is an hour ahead of UTC in January, and two in July."""
    hours = [
        timezones.local(datetime(2026, month, 1, 12, tzinfo=UTC), "Europe/Berlin").hour
        for month in (1, 7)
    ]

    assert hours == [13, 14]
    assert timezones.edition()


@pytest.mark.parametrize(
    "name",
    ["", "Mars", "../../etc/passwd", "Europe", "zone.tab", "leapseconds", "/UTC"],
)
def test_what_is_no_zone_is_none(name: str) -> None:
    """And its local time is that of UTC."""
    at = datetime(2026, 1, 1, 12, tzinfo=UTC)

    assert timezones.zone(name) is None
    assert timezones.local(at, name) == at


def test_without_the_wheel_there_is_utc_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that was installed without it runs all the same."""

    def away(_: str) -> str:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "version", away)

    assert timezones.edition() == ""
    assert timezones.zone("UTC") is UTC


def test_settings_of_hours_and_zones() -> None:
    """What is none is refused before it is recorded."""
    assert option.quiet_hours("22:00-07:00") == "22:00-07:00"
    assert option.quiet_hours("off") == ""
    assert option.timezone("Asia/Tokyo") == "Asia/Tokyo"
    for hours in ("22-7", "24:00-07:00", "07:00-07:00", "07:00"):
        with pytest.raises(ValueError, match="22:00-07:00"):
            option.quiet_hours(hours)
    with pytest.raises(ValueError, match="Europe/Berlin"):
        option.timezone("Nowhere")


BERLIN = "Europe/Berlin"
NEXT: tuple[tuple[str, str, int, int, str], ...] = (
    # The hour from 02:00 to 03:00 comes twice on 25 October 2026: until 01:00Z, until 02:00Z.
    (BERLIN, "2026-10-24T23:00Z", 2, 30, "2026-10-25T00:30Z"),
    (BERLIN, "2026-10-25T00:29Z", 2, 30, "2026-10-25T00:30Z"),
    (BERLIN, "2026-10-25T00:30Z", 2, 30, "2026-10-25T01:30Z"),
    (BERLIN, "2026-10-25T00:45Z", 2, 30, "2026-10-25T01:30Z"),
    (BERLIN, "2026-10-25T01:10Z", 2, 30, "2026-10-25T01:30Z"),
    (BERLIN, "2026-10-25T01:30Z", 2, 30, "2026-10-26T01:30Z"),
    (BERLIN, "2026-10-25T00:45Z", 2, 15, "2026-10-25T01:15Z"),
    (BERLIN, "2026-10-25T00:45Z", 3, 0, "2026-10-25T02:00Z"),
    (BERLIN, "2026-10-24T12:00Z", 14, 0, "2026-10-25T13:00Z"),
    # The same hour is left out on 29 March 2026: 02:30 comes as 03:30.
    (BERLIN, "2026-03-28T12:00Z", 2, 30, "2026-03-29T01:30Z"),
    (BERLIN, "2026-03-29T00:50Z", 2, 30, "2026-03-29T01:30Z"),
    (BERLIN, "2026-03-29T01:10Z", 2, 30, "2026-03-29T01:30Z"),
    (BERLIN, "2026-03-29T01:30Z", 2, 30, "2026-03-30T00:30Z"),
    (BERLIN, "2026-03-28T12:00Z", 3, 0, "2026-03-29T01:00Z"),
    # Half an hour is doubled here, and a day was left out there.
    ("Australia/Lord_Howe", "2026-04-04T14:50Z", 1, 45, "2026-04-04T15:15Z"),
    ("Pacific/Apia", "2011-12-30T09:00Z", 22, 0, "2011-12-31T08:00Z"),
    ("UTC", "2026-10-25T00:45Z", 2, 30, "2026-10-25T02:30Z"),
    ("Nowhere", "2026-10-25T02:30Z", 2, 30, "2026-10-26T02:30Z"),
)


@pytest.mark.parametrize(("zone", "now", "hour", "minute", "next_"), NEXT)
def test_a_time_of_the_day_comes_next(
    zone: str, now: str, hour: int, minute: int, next_: str
) -> None:
    """At the first moment at which clocks show it, be it for the second time that day."""
    at = datetime.fromisoformat(now.replace("Z", "+00:00"))
    found = timezones.next_at(at, zone, hour, minute)

    assert found == datetime.fromisoformat(next_.replace("Z", "+00:00"))
    assert found.tzinfo is UTC
