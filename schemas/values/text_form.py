"""The one form of a text: Unicode's canonical composition, by a table that never changes.

"Küche" can be written in two ways that look alike. What a log holds is brought to one of
them where it is read, and what a pack declares likewise, so that they are equal on every
Python: each has the tables of Unicode 3.2 beside its own.
"""

import unicodedata
from typing import Any

_FROZEN = unicodedata.ucd_3_2_0


def normalized(text: str) -> str:
    """Return a text in the one form; characters after Unicode 3.2 stay as they are."""
    return text if text.isascii() else _FROZEN.normalize("NFC", text)


def all_normalized(value: Any) -> Any:
    """Return a JSON value whose texts, and names of fields, are in the one form.

    Of two names that become one the last counts, as in JSON itself.
    """
    if isinstance(value, str):
        return normalized(value)
    if isinstance(value, dict):
        return {normalized(name): all_normalized(each) for name, each in value.items()}
    if isinstance(value, list):
        return [all_normalized(each) for each in value]
    return value
