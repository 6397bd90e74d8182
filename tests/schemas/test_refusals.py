"""What a person reads of a message whose fields are wrong: where, and what is wanted there.

`tests/golden/refusals.json` has for each its kind and token, the body, and the words.
"""

from pathlib import Path
from typing import Any

import orjson
import pytest

from schemas.codec.decode import read_input
from schemas.codec.envelope import Unreadable
from schemas.values.record import Record

REFUSED = orjson.loads(
    (Path(__file__).parents[1] / "golden/refusals.json").read_bytes()
)


@pytest.mark.parametrize(("what", "body", "words"), REFUSED)
def test_a_mistyped_message_is_refused_in_words(
    what: str, body: dict[str, Any], words: str
) -> None:
    """It is quarantined with the first fault, at its place, and how many more there are."""
    record = Record(f"ev.5.in.ana.{what}", {"ce-id": "1"}, orjson.dumps(body), 1, 0)

    assert read_input(record).message == Unreadable("invalid", words)
