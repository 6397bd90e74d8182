"""Options made of declarations: what a setting says once is so wherever it shows."""

from typing import Annotated, Literal

import pytest
from pydantic import Field

from echoic.config.option import Option, address_of, listen, quiet_hours
from echoic.config.options import options_of
from echoic.config.settings_page import row
from schemas.values.base import Part, Seconds
from schemas.values.setting import Setting, Tunable, recorded, tunable


class Echo(Part):
    """A part of a made-up model."""

    delay_s: Annotated[
        Seconds, Setting("echo.delay_minutes", "So late.", start=2.0, scale=60.0)
    ] = 30.0
    loud: Annotated[bool, Tunable(), Setting("echo.loud", "Whether all hear it.")] = (
        False
    )


class Made(Part):
    """A made-up model of recorded settings."""

    patience: Annotated[
        int, Tunable(), Setting("patience", "How much there is.", also=("CALM",))
    ] = Field(default=3, ge=1, le=9)
    way: Annotated[Literal["long", "short"], Setting("way", "Which.")] = "long"
    share: Annotated[float, Setting("share", "Of it.", bounds=(0.5, 1))] = Field(
        default=0.75, ge=0.0, le=1.0
    )
    echo: Echo | None = None
    unset: int = 0


OF = {option.name: option for option in options_of(Made)}


def test_a_setting_is_an_option_with_its_variables_and_its_row_of_the_page() -> None:
    """Name, default, meaning and variables are those of the declaration."""
    option = OF["patience"]

    assert isinstance(option, Option)
    assert [*OF] == ["patience", "way", "share", "echo.delay_minutes", "echo.loud"]
    assert option.variables == ("ECHOIC_PATIENCE", "CALM")
    assert row(option) == (
        "| `patience` | `ECHOIC_PATIENCE`<br>`CALM` | `3` | How much there is. |\n"
    )


def test_the_type_and_the_bounds_of_the_field_say_what_may_be_given() -> None:
    """The operator hears of the same bounds as the record keeps."""
    refusals = {
        "patience": "a whole number from 1 to 9",
        "way": "one of long, short",
        "share": "a number from 0.5 to 1",
        "echo.delay_minutes": "a number over 0",
        "echo.loud": "one of on, off",
    }

    for name, allowed in refusals.items():
        with pytest.raises(ValueError, match=allowed):
            OF[name].parse("0")


def test_what_is_given_is_recorded_in_its_field() -> None:
    """In the field's own unit; what has no setting keeps its default."""
    given = {name: option.default for name, option in OF.items()}

    fields = recorded(Made, given | {"patience": 5, "echo.loud": "on", "way": None})

    assert given["echo.delay_minutes"] == 2.0
    assert Made.model_validate(fields) == Made(
        patience=5, share=0.75, echo=Echo(delay_s=120.0, loud=True)
    )


def test_what_may_be_tuned_is_known_by_its_whole_name() -> None:
    """Within the bounds of the field; switches stand last."""
    found = tunable(Made, "made.")

    assert dict(found) == {"made.patience": (1, 9), "made.echo.loud": (False, True)}
    assert [*found] == ["made.patience", "made.echo.loud"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:9464", ("127.0.0.1", 9464)),
        ("[::1]:0", ("::1", 0)),
        ("metrics.lan:80", ("metrics.lan", 80)),
    ],
)
def test_an_address_to_listen_at_has_a_host_and_a_port(
    text: str, expected: tuple[str, int]
) -> None:
    """Both are needed: nothing is served to the whole network by an omission."""
    assert listen(text) == text
    assert address_of(text) == expected


@pytest.mark.parametrize("text", ["", "off"])
def test_nowhere_is_an_address_too(text: str) -> None:
    """A variable cannot be empty, so there is a word for it."""
    assert listen(text) is None


@pytest.mark.parametrize(
    "text", [":9464", "9464", "host", "host:", "h:70000", "h:-1", 8]
)
def test_what_is_no_address_is_refused(text: object) -> None:
    """With what is allowed."""
    with pytest.raises(ValueError, match=r"a host and port|a text"):
        listen(text)


@pytest.mark.parametrize(
    ("given", "hours"),
    [
        ("22:00-07:00", "22:00-07:00"),
        ("22:00-24:00", "22:00-00:00"),
        ("off", ""),
        ("", ""),
    ],
)
def test_quiet_hours_may_end_with_the_day(given: str, hours: str) -> None:
    """Which is the midnight that the next one begins with."""
    assert quiet_hours(given) == hours


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("00:00-24:00", "less than the whole day"),
        ("08:00-08:00", "less than the whole day"),
        ("24:00-07:00", "hours such as"),
        ("10pm-7am", "hours such as"),
    ],
)
def test_quiet_hours_that_are_none_are_told_so(given: str, told: str) -> None:
    """With what would do."""
    with pytest.raises(ValueError, match=told):
        quiet_hours(given)
