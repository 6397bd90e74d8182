"""What our reader takes of near-JSON, json-repair reads alike; what it refuses is listed.

json-repair gives something for nearly every text, so it is no reader of replies: a cut-off
sentence, markup and reasoning would be said. Where both read an object, they must agree.
"""

import json
import re

import json_repair
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.mind.reply import reading
from tests.handlers.mind.reply_cases import SAYS

OF_ITS_OWN = {
    "{„response“: „It is sunny.“}": "it knows no quotes of German",
    "{\u2018response\u2019: \u2018It is sunny.\u2019}": "nor single curly ones",
    '{"response": "It is sunny."}\n{"response": "It is raining."}': "it takes the last",
    '{"response": "It is sunny."} {"resp': "it makes a list",
}
"""Where json-repair reads something else, and why that is none of our faults."""

OBJECTS = sorted(
    text
    for text in SAYS
    # What a model thought is taken out before an object is read.
    if not re.search("think>|Reasoning", text)
    and reading.object_or_none(text, "response")
)


@pytest.mark.parametrize("text", OBJECTS)
def test_an_object_is_read_as_json_repair_reads_it(text: str) -> None:
    """Its response; what stands in `OF_ITS_OWN` differs still."""
    ours = reading.object_in(text, "response")
    theirs = json_repair.loads(text)

    assert ours is not None
    is_alike = isinstance(theirs, dict) and theirs.get("response") == ours["response"]
    assert is_alike == (text not in OF_ITS_OWN), theirs


FIELDS = st.dictionaries(
    st.text("abcdefgh_", min_size=1),
    # In texts with brackets and commas json-repair finds ends that are none.
    st.text("It is sunny 'n' so on: é")
    | st.integers(-9_999, 9_999)
    | st.booleans()
    | st.none(),
    max_size=4,
)


@given(fields=FIELDS, words=st.text("It is sunny 'n' so on.", min_size=1))
def test_what_is_nearly_json_is_read_as_it_is_meant(
    fields: dict[str, object], words: str
) -> None:
    """With a comma too many, as Python writes it, in a fence: both read what was meant."""
    meant = {**fields, "response": words}
    text = json.dumps(meant)
    for near in (text, f"{text[:-1]},}}", repr(meant), f"```json\n{text}\n```"):
        assert reading.object_in(near, "response") == meant
    assert json_repair.loads(f"{text[:-1]},}}") == meant
