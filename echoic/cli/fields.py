"""Fields and hints of an event, as they are typed: `name=value`."""

from collections.abc import Iterable, Mapping
from typing import cast, get_args

import orjson

from echoic.errors import EchoicError
from schemas.messages.sensing import Dimension


def hints(given: Iterable[str] | None) -> Mapping[Dimension, float]:
    """Parse salience hints here: an invalid one would have the whole event refused.

    Raises:
        EchoicError: an unknown dimension, or no number from 0 to 1.
    """
    found = values(given)
    for name, number in found.items():
        is_unit = isinstance(number, int | float) and 0 <= number <= 1
        if name not in get_args(Dimension) or not is_unit:
            raise EchoicError(
                f"{name}={number} is no hint",
                next_step=f"give a number from 0 to 1 to {', '.join(get_args(Dimension))}",
            )
    return cast("dict[Dimension, float]", found)


def values(fields: Iterable[str] | None) -> dict[str, object]:
    """Parse `name=value` pairs; a value that is no JSON is text."""
    found: dict[str, object] = {}
    for text in fields or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise EchoicError(f"{text!r} is no field", next_step="--field value=3")
        try:
            found[name] = orjson.loads(value)
        # `kitchen` is no JSON and is meant as text: nobody quotes twice in a shell.
        except ValueError:
            found[name] = value
    return found
