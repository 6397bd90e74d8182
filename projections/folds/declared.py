"""What an event is as a pack declares it: its numbers sent as text, and what it says.

Pure. The mind and the folds read an input through here, so that conditions, facts and
habits see one value; the log keeps what the sensor sent.
"""

import re
from collections.abc import Callable, Sequence

import orjson
from msgspec.structs import replace

from schemas.codec import device_texts
from schemas.codec.envelope import Input
from schemas.messages.sensing import Sensed
from schemas.packs.compiled import CompiledPack
from schemas.packs.event_types import EventType
from schemas.ports.aids import Aids

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?")
"""As JSON writes it, without an exponent: 007 and 1e400 stay text."""


def read(
    input_: Input, aids: Aids, packs: Callable[[], Sequence[CompiledPack]]
) -> tuple[Input, Aids]:
    """Return an input with the numbers and the text that a pack declares for it.

    The aids then hold the vector of that text. `packs` returns those in force; it is called
    only if the event has fields.
    """
    event = input_.message
    if not isinstance(event, Sensed) or not event.fields:
        return input_, aids
    types = [pack.event_type(event.type, event.source) for pack in packs()]
    found = [each for each in types if each is not None]
    changes: dict[str, object] = {}
    if numbers := _numbers(event, found):
        changes["fields"] = {**event.fields, **numbers}
    said = device_texts.text(event, found)
    if said is not None:
        changes["text"] = said
        # A vector that was recorded is that of this text already.
        aids = replace(aids, vector=aids.of(said) or aids.vector)
    if not changes:
        return input_, aids
    return replace(input_, message=replace(event, **changes)), aids


def _numbers(event: Sensed, types: Sequence[EventType]) -> dict[str, int | float]:
    declared = {name for each in types for name in each.fields}
    # In the event's own order: nothing here iterates over the set.
    return {
        name: _number(each)
        for name, each in event.fields.items()
        if name in declared and _is_number(each)
    }


def _is_number(value: object) -> bool:
    return isinstance(value, str) and _NUMBER.fullmatch(value.strip()) is not None


def _number(value: object) -> int | float:
    number: int | float = orjson.loads(str(value).strip())
    return number
