"""In tests, every struct message that is written is checked against its model.

The mind makes them without a check. What is found is told when the test ends: raised in
the mind it would only keep the input apart.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import orjson
import pytest

from schemas.codec.struct_models import message_model
from schemas.values.base import StructMessage

_to_bytes = StructMessage.to_bytes


@contextmanager
def watched() -> Iterator[list[str]]:
    """What is wrong with the messages that are written meanwhile."""
    found: list[str] = []

    def to_bytes(message: StructMessage) -> bytes:
        body = _to_bytes(message)
        found.extend(faults(message, body))
        return body

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StructMessage, "to_bytes", to_bytes)
        yield found


def faults(message: StructMessage, body: bytes) -> Iterator[str]:
    """What its model, and whoever reads it, would have otherwise."""
    try:
        model = message_model(type(message)).from_fields(orjson.loads(body))
        if model.to_bytes() != body:
            yield f"{body!r} is not {model.to_bytes()!r}"
        if type(message).from_bytes(body) != message:
            yield f"{body!r} is not read as {message!r}"
    except ValueError as error:
        yield f"{body!r}: {error}"
