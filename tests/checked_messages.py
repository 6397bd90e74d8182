"""In tests, every struct message that is written is checked against its model.

The mind makes them without a check. What is found is told when the test ends: raised in
the mind it would only keep the input apart.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import orjson
import pytest

from schemas.values.base import Message
from schemas.values.struct_models import validated

unchecked_bytes = Message.to_bytes


@contextmanager
def watched() -> Iterator[list[str]]:
    """What is wrong with the messages that are written meanwhile."""
    found: list[str] = []

    def to_bytes(message: Message) -> bytes:
        body = unchecked_bytes(message)
        found.extend(faults(message, body))
        return body

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Message, "to_bytes", to_bytes)
        yield found


def faults(message: Message, body: bytes) -> Iterator[str]:
    """What its model, and whoever reads it, would have otherwise."""
    try:
        read = validated(type(message), orjson.loads(body), extra="forbid")
        if (again := unchecked_bytes(read)) != body:
            yield f"{body!r} is not {again!r}"
        if type(message).from_bytes(body) != message:
            yield f"{body!r} is not read as {message!r}"
    except ValueError as error:
        yield f"{body!r}: {error}"
