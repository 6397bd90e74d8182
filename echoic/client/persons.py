"""Persons as people name them to commands: in any script, by the token of the name."""

from echoic.errors import EchoicError
from schemas.values.persons import token_of


def named(person: str) -> str:
    """Return the token of a person's name.

    Raises:
        EchoicError: it is empty, too long, or has control characters.
    """
    try:
        return token_of(person)
    except ValueError as error:
        raise EchoicError(f"{person!r} names nobody: {error}") from None
