"""Recorded settings that lack some are those of before: schemas.codec.upcasts."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from schemas.codec.upcasts import as_before, upcast
from schemas.messages.controls import MindStarted
from schemas.values.settings import MindSettings
from tests.factories import LIMITS

OLD = Path(__file__).parents[2] / "golden" / "messages" / "mind_started.v1.json"


def _leaves(fields: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    """Each value by its full name."""
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{place}{name}.")
        else:
            yield place + name, value


def test_what_an_old_start_lacks_is_as_it_was_then() -> None:
    """Not what a new instance begins with, which is on."""
    fields = upcast("mind_started", orjson.loads(OLD.read_bytes()), 1, 1)
    old = MindStarted.from_fields(fields).settings
    new = MindSettings(limits=LIMITS)

    assert (old.formation, old.executive.timing, old.executive.cooldown_s) == (
        False, False, 0.0
    )  # fmt: skip
    assert (new.formation, new.executive.timing, new.executive.cooldown_s) == (
        True, True, 4.0
    )  # fmt: skip


def test_what_is_recorded_stays() -> None:
    """Beside what lacks, at every depth."""
    told = as_before({"formation": True, "learning": {"kappa": 3.0, "undo_s": 5.0}})

    assert told["formation"]
    assert told["learning"] == as_before({})["learning"] | {"kappa": 3.0, "undo_s": 5.0}


def test_only_what_has_another_default_today_is_listed() -> None:
    """A row that says what the default says would say it twice."""
    now = dict(_leaves(MindSettings(limits=LIMITS).model_dump(mode="json")))
    same = [name for name, before in _leaves(as_before({})) if before == now[name]]

    # Its part is listed whole.
    assert same == ["learning.kappa_by_origin.learned"]
