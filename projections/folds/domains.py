"""Domains: which pack an event belongs to, and which of its fields conditions name.

The domain of an event is the pack that declares its type; a source that no pack declares
is a domain of its own. What is learnt in one domain never matches in another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import orjson

from schemas import conditions
from schemas.packs import CompiledPack, EventType
from schemas.sensing import Sensed
from schemas.state import Shelf

_TAU_S = {"game": 60.0, "work": 180.0, "home": 300.0, "other": 120.0}


@dataclass(frozen=True, slots=True)
class Domain:
    """Where an event belongs."""

    name: str
    pack: CompiledPack | None = None
    event_type: EventType | None = None
    """How the pack declares the event's type."""

    @property
    def tau_s(self) -> float:
        """How fast the mind gets used to such events."""
        if self.event_type is not None and self.event_type.tau_s is not None:
            return self.event_type.tau_s
        return _TAU_S[self.pack.pack.setting if self.pack else "other"]


def of_event(packs: Sequence[CompiledPack], event: Sensed) -> Domain:
    """The domain of an event, given the packs in force by name."""
    for pack in packs:
        declared = pack.event_type(event.type, event.source)
        if declared is not None:
            return Domain(pack.pack.name, pack, declared)
    return Domain(event.source)


def named_values(domain: Domain, shelf: Shelf | None, event: Sensed) -> str:
    """The values of those fields that some condition of the domain names, as JSON."""
    names = set(domain.pack.fields_named) if domain.pack else set()
    if shelf is not None:
        names.update(_fields_named(shelf))
    values = []
    for name in sorted(names):
        found, value = conditions.field_value(name, event.fields)
        if found:
            values.append([name, value])
    return orjson.dumps(values, option=orjson.OPT_SORT_KEYS).decode()


@lru_cache(maxsize=256)
def _fields_named(shelf: Shelf) -> tuple[str, ...]:
    named: set[str] = set()
    for id_ in sorted(shelf.heuristics):
        when = shelf.heuristics[id_].when
        if when is not None:
            named.update(conditions.fields_named(conditions.parse(when)))
    return tuple(sorted(named))
