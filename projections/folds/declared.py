"""What an event's fields are, as a pack declares them: a number sent as text is a number.

Pure. The mind and the folds read an input through here, so that conditions, facts and
habits see one value; the log keeps what the sensor sent.
"""

import re
from collections.abc import Callable, Sequence

import orjson
from msgspec.structs import replace

from schemas.codec.envelope import Input
from schemas.messages.sensing import Sensed
from schemas.packs.compiled import CompiledPack

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?")
"""As JSON writes it, without an exponent: 007 and 1e400 stay text."""


def read(input_: Input, packs: Callable[[], Sequence[CompiledPack]]) -> Input:
    """Return an input whose declared numbers are numbers.

    `packs` returns those in force; it is called only if there is a text that may be one.
    """
    event = input_.message
    if not isinstance(event, Sensed):
        return input_
    texts = [name for name, each in event.fields.items() if _is_number(each)]
    if not texts:
        return input_
    types = (pack.event_type(event.type, event.source) for pack in packs())
    declared = {name for each in types if each is not None for name in each.fields}
    # `texts` is a list in the event's own order: nothing here iterates over the set.
    found = {name: _number(event.fields[name]) for name in texts if name in declared}
    if not found:
        return input_
    told = event.model_copy(update={"fields": {**event.fields, **found}})
    return replace(input_, message=told)


def _is_number(value: object) -> bool:
    return isinstance(value, str) and _NUMBER.fullmatch(value.strip()) is not None


def _number(value: object) -> int | float:
    number: int | float = orjson.loads(str(value).strip())
    return number
