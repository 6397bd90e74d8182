"""Domains: which pack an event belongs to, and which of its fields conditions name.

The domain of an event is the pack that declares its type; a source that no pack declares
is a domain of its own. What is learnt in one domain never matches in another.
"""

from collections.abc import Iterator, Mapping, Sequence

import orjson
from msgspec import Struct

from schemas.messages.sensing import Sensed
from schemas.packs import conditions
from schemas.packs.manifest import CompiledPack, EventType
from schemas.state.agent import Shelf
from schemas.values.by_identity import by_identity

# The time constant of recovery from habituation, in seconds, by a pack's setting.
_TAU_S = {"game": 60.0, "work": 180.0, "home": 300.0, "other": 120.0}


class Domain(Struct, frozen=True):
    """The domain of an event: a pack, or an undeclared source."""

    name: str
    pack: CompiledPack | None = None
    event_type: EventType | None = None
    """How the pack declares the event's type."""

    @property
    def tau_s(self) -> float:
        """The time constant of recovery from habituation, in seconds."""
        if self.event_type is not None and self.event_type.tau_s is not None:
            return self.event_type.tau_s
        return _TAU_S[self.pack.pack.setting if self.pack else "other"]


def of_event(packs: Sequence[CompiledPack], event: Sensed) -> Domain:
    """Return the domain of an event: the first pack declaring its type, else its source.

    `packs` are those in force, ordered by name.
    """
    for pack in packs:
        declared = pack.event_type(event.type, event.source)
        if declared is not None:
            return Domain(pack.pack.name, pack, declared)
    return Domain(event.source)


def named_values(domain: Domain, shelf: Shelf | None, event: Sensed) -> str:
    """Return the values of those fields that some condition of the domain names, as JSON."""
    roots = _names_by_root(domain.pack.fields_named if domain.pack else (), shelf)
    present = [name for root in event.fields for name in roots.get(root, ())]
    values = []
    for name in sorted(present):
        found, value = conditions.field_value(name, event.fields)
        if found:
            values.append([name, value])
    return orjson.dumps(values, option=orjson.OPT_SORT_KEYS).decode()


# Asked for at each event; packs and shelves are frozen and stay the same object between
# changes, so identity serves as the key where hashing a shelf would be slow.
@by_identity(256)
def _names_by_root(
    of_pack: tuple[str, ...], shelf: Shelf | None
) -> Mapping[str, tuple[str, ...]]:
    """Return the field names in conditions, by the top-level field that they begin with."""
    names: dict[str, tuple[str, ...]] = {}
    for name in sorted({*of_pack, *(_fields_named(shelf) if shelf else ())}):
        root = name.partition(".")[0]
        names[root] = (*names.get(root, ()), name)
    return names


def _fields_named(shelf: Shelf) -> Iterator[str]:
    for id_ in sorted(shelf.heuristics):
        when, is_silence = shelf.heuristics[id_].when, shelf.heuristics[id_].is_silence
        if when is not None and not is_silence:
            yield from conditions.fields_named(conditions.parse(when))
