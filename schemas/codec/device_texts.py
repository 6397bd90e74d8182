"""What a device's event says by the template that a pack declares for it. Pure."""

from collections.abc import Iterable, Sequence

from schemas.codec import payload
from schemas.messages.sensing import Sensed
from schemas.packs import templates
from schemas.packs.compiled import CompiledPack
from schemas.packs.event_types import EventType


def texts(event: Sensed, packs: Iterable[CompiledPack]) -> tuple[str, ...]:
    """Return what an event may say by these packs, of which not all need be in force."""
    if not event.fields:
        return ()
    types = (pack.event_type(event.type, event.source) for pack in packs)
    said = (text(event, [each]) for each in types if each is not None)
    return tuple(dict.fromkeys(each for each in said if each is not None))


def text(event: Sensed, types: Sequence[EventType]) -> str | None:
    """Return what a device's event says by the first template that it can fill."""
    for template in (each.text for each in types if each.text):
        if not payload.is_plain(event):
            return None
        said = templates.filled(template, event.text, event.fields)
        if said is not None:
            return said
    return None
