"""Upcasting: bringing an older version of a message to the present one, as raw fields.

An optional field may be added without a step here. Any other change is a new message, or a
function in `UPCASTS` with a golden file of the version that it reads.
"""

from collections.abc import Callable, Mapping
from typing import Any

from schemas.values.unicode_text import quoted

_RawFields = dict[str, Any]
_Upcast = Callable[[_RawFields], _RawFields]

UPCASTS: Mapping[tuple[str, int], _Upcast] = {}
"""By token and version: the function that turns such fields into those of version + 1."""


class NewerVersionError(ValueError):
    """The message was written by a newer program than this one."""


def upcast(
    token: str,
    fields: _RawFields,
    version: int,
    present: int,
    steps: Mapping[tuple[str, int], _Upcast] = UPCASTS,
) -> _RawFields:
    """Bring the fields of a message of `version` to the `present` one.

    Raises:
        NewerVersionError: the version is beyond the present one.
    """
    if version > present:
        raise NewerVersionError(
            f"{quoted(token)} has version {version}, this program reads up to {present}:"
            " upgrade it"
        )
    for step in range(version, present):
        # A missing step is our mistake and raises KeyError: guessing a meaning is worse.
        fields = steps[token, step](fields)
    return fields
