"""How older versions of a message become the present one, on its raw fields.

An optional field may be added without a step here. Any other change is a new message or a
function in `UPCASTS`, with a golden file of the version that it reads.
"""

from collections.abc import Callable, Mapping
from typing import Any

from schemas.values.unicode_text import quoted

RawFields = dict[str, Any]
Upcast = Callable[[RawFields], RawFields]

UPCASTS: Mapping[tuple[str, int], Upcast] = {}
"""(token, version) to the function that makes version + 1 of such a message's fields."""


class NewerVersionError(ValueError):
    """The message was written by a newer program than this one."""


def upcast(
    token: str,
    fields: RawFields,
    version: int,
    present: int,
    steps: Mapping[tuple[str, int], Upcast] = UPCASTS,
) -> RawFields:
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
        fields = steps[token, step](fields)
    return fields
