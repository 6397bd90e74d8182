"""The schema of what engines and the bridge say, and the page that explains it."""

import json
import re

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from echoic.doors.engines import messages
from tests.echoic.cli.conftest import ROOT

SCHEMA = messages.schema()
PAGE = (ROOT / "docs" / "engines.md").read_text()
EXAMPLES = [json.loads(each) for each in re.findall(r"```json\n(.*?)```", PAGE, re.S)]


def test_the_schema_is_one() -> None:
    """By its own specification; a generator of code can follow each reference."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    references = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(SCHEMA)))

    assert references <= set(SCHEMA["$defs"])


def test_the_pages_examples_are_valid_and_complete() -> None:
    """Each message has at least one."""
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for each in EXAMPLES:
        validator.validate(each)

    shown = {each["message"] for each in EXAMPLES}
    mappings = [
        set(SCHEMA["$defs"][name]["discriminator"]["mapping"])
        for name in ("from_engine", "to_engine")
    ]
    assert shown == set.union(*mappings)


@pytest.mark.parametrize(
    "example", EXAMPLES, ids=lambda each: f"{each['message']}-{each['id']}"
)
def test_the_bridge_reads_what_the_schema_allows_engines(
    example: dict[str, object],
) -> None:
    """And refuses what is only for the other direction."""
    text = json.dumps(example)
    if example["message"] in ("event", "taken"):
        assert messages.read(text).model_dump(include={"id"})["id"] == example["id"]
    else:
        with pytest.raises(ValueError, match="message"):
            messages.read(text)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_no_bytes_break_the_reader(text: bytes | str) -> None:
    """Garbage has a named fault."""
    with pytest.raises(ValueError) as found:  # noqa: PT011  # the text is any
        messages.read(text)

    assert messages.wrong_fields(found.value)[0].problem
