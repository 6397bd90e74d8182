"""People's names, in any script, and the tokens that stand for them.

A token is part of keys and subjects, so it has few characters; a name has any. The same name
gives the same token at every door and on every machine, and two names never the same one.
"""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta
from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from schemas.values.base import NAME_LIMIT, TOKEN
from schemas.values.text_form import normalized

_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,64}")
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
"""What is copied with a name and nobody sees; joiners within words are none of it."""
_SEEN = 24
"""How many characters of the name a token shows, for people who read it."""
_DIGEST_BYTES = 10
"""So long that among a thousand million names two alike have odds of one in a million."""


def token_of(name: str) -> str:
    """Return the token of a person's name: itself, or one that is derived from it.

    Raises:
        ValueError: it is empty, too long, or has control characters.
    """
    if _TOKEN.fullmatch(name):
        return name
    whole = _plain(name)
    if not whole or len(whole) > NAME_LIMIT or _UNFIT.search(whole):
        raise ValueError(
            f"a person's name has 1 to {NAME_LIMIT} characters and no control characters"
        )
    if _TOKEN.fullmatch(whole):
        return whole
    digest = hashlib.blake2b(whole.encode("utf-8"), digest_size=_DIGEST_BYTES)
    # Letters without their marks, by the same frozen table: "Zoë" is seen as "Zoe".
    bare = unicodedata.ucd_3_2_0.normalize("NFKD", whole)
    seen = re.sub(r"[^A-Za-z0-9]+", "-", _ascii(bare)).strip("-")[:_SEEN]
    return f"{seen or 'person'}_{digest.hexdigest()}"


def told(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message's fields with a token for its person, and the name as `called`."""
    name = fields.get("person")
    if not isinstance(name, str) or _TOKEN.fullmatch(name):
        return fields
    try:
        token = token_of(name)
    except ValueError:
        # The field's own check says so.
        return fields
    kept = {"called": _plain(name)} if token != name else {}
    return {**fields, **kept, "person": token}


def _plain(name: str) -> str:
    return " ".join(normalized(_UNSEEN.sub("", name)).split())


def _ascii(text: str) -> str:
    # A mark is left out, not made a gap: "Zoë" has no "Zo e".
    return "".join(
        each if each.isascii() else ("" if _is_mark(each) else " ") for each in text
    )


def _is_mark(character: str) -> bool:
    return unicodedata.ucd_3_2_0.combining(character) != 0


def _checked(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return token_of(value)
    except ValueError as error:
        raise PydanticCustomError("person", "{why}", {"why": str(error)}) from None


PersonToken = Annotated[
    str, Meta(pattern=TOKEN), BeforeValidator(_checked), Field(pattern=TOKEN)
]
"""Who a person is: a name of any script, kept as the token that is derived from it."""
