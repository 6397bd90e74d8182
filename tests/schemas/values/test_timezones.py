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
