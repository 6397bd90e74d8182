"""A worker that joins decides by the settings of the instance, or is told what differs."""

import orjson
import pytest

from echoic.config.load import defaults, load
from echoic.errors import SettingsError
from echoic.run.shared_settings import (
    KEY,
    SettingsChanged,
    Unchanged,
    check_code,
    check_same,
)
from streams.jetstream.owners import Entry
from tests.minds import started

THEIRS = started(threshold=0.4).settings
CODE = started().digests


def test_who_sets_nothing_takes_what_is_in_force() -> None:
    """Defaults are no wish."""
    check_same(defaults(), THEIRS)


def test_the_same_may_be_set_here_as_well() -> None:
    """One file of settings for all machines does no harm."""
    check_same(load(environment={"ECHOIC_THRESHOLD": "0.4"}), THEIRS)


def test_another_setting_is_refused_by_its_name() -> None:
    """And both values."""
    with pytest.raises(SettingsError, match=r"threshold is 0\.6 here and 0\.4 there"):
        check_same(load(environment={"ECHOIC_THRESHOLD": "0.6"}), THEIRS)


def test_another_program_is_refused_by_what_differs() -> None:
    """What is the same is not named."""
    check_code(CODE, CODE)
    newer = CODE.model_copy(update={"version": "9.0", "strategies": {"mine": "ab"}})
    with pytest.raises(SettingsError) as refused:
        check_code(CODE, newer)
    assert "version is 'test' here and '9.0' there" in refused.value.what
    assert "strategies.mine is None here and 'ab' there" in refused.value.what
    assert "embedder" not in refused.value.what


def test_a_change_is_noticed_once_it_is_one() -> None:
    """The same settings written again, or a newer program's digests, change nothing."""
    unchanged = Unchanged(THEIRS.model_dump(mode="json"))
    same = orjson.dumps({"settings": THEIRS.model_dump(mode="json"), "digests": {}})
    other = started(threshold=0.9).settings.model_dump(mode="json")

    unchanged({})
    unchanged({KEY: Entry(same, 1)})
    unchanged({KEY: Entry(same, 2)})
    with pytest.raises(SettingsChanged, match=r"threshold is 0\.4 here and 0\.9 there"):
        unchanged({KEY: Entry(orjson.dumps({"settings": other}), 3)})
