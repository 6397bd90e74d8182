"""Golden messages: what an earlier version wrote is read and written as it was.

`tests/golden/messages/<token>.v<version>.json` is the body as the log holds it; further ones
are `<token>.<what>.v<version>.json`. A file is never changed; a new version of a message gets
a new one.
"""

from pathlib import Path

import orjson
import pytest

from schemas.codec import catalogue
from schemas.codec.upcasts import upcast
from schemas.messages.sensing import Sensed
from schemas.values.base import Message

FOLDER = Path(__file__).parents[1] / "golden" / "messages"
MODELS = {model.token: model for model in (*catalogue.INPUTS, *catalogue.OUTPUTS)}
TOKENS = FOLDER.parent / "tokens.txt"
FILES = sorted(FOLDER.glob("*.json"))
SPARSE = {"mind_started.v1", "mind_started.in_full.v1"}
"""Of before settings were recorded in full, or of before some of them: read, and written
with what they lack."""


def present(path: Path) -> tuple[str, int, bytes]:
    """The token, version and body of a golden file."""
    named, _, version = path.stem.rpartition(".v")
    return named.partition(".")[0], int(version), path.read_bytes().rstrip(b"\n")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_message_reads_and_writes_the_same(path: Path) -> None:
    """Decoding and encoding the present version gives the very same bytes."""
    token, version, body = present(path)
    model = MODELS[token]

    message = model.from_fields(
        upcast(token, orjson.loads(body), version, model.version)
    )

    if version == model.version and path.stem not in SPARSE:
        assert message.to_bytes() == body
    assert model.from_fields(orjson.loads(message.to_bytes())) == message


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.token)
def test_every_message_has_a_golden_file(model: type[Message]) -> None:
    """A message without a golden file for its present version is not done."""
    assert (FOLDER / f"{model.token}.v{model.version}.json").exists()


def test_every_older_version_has_a_golden_file() -> None:
    """An upcast without the file that it reads is not tested."""
    for model in MODELS.values():
        for version in range(1, model.version):
            assert (FOLDER / f"{model.token}.v{version}.json").exists()


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.token)
def test_a_field_of_the_future_is_ignored(model: type[Message]) -> None:
    """A message of a newer program is read by what this one knows of it."""
    path = FOLDER / f"{model.token}.v{model.version}.json"
    fields = orjson.loads(path.read_bytes())

    assert model.from_fields(fields | {"of_the_future": 1}) == model.from_fields(fields)


def test_tokens_are_as_the_log_has_them() -> None:
    """A message is found by kind and token: a class may be renamed, its token never."""
    found = [
        f"{model.kind} {model.token}"
        for model in (*catalogue.INPUTS, *catalogue.OUTPUTS)
    ]

    assert sorted(found) == TOKENS.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({}, "New declares no `token: ClassVar"),
        ({"token": "sensed"}, "New and Sensed have the same token 'sensed'"),
    ],
)
def test_a_message_without_a_token_of_its_own_is_refused(
    fields: dict[str, str], complaint: str
) -> None:
    """What a message is called on the log is never made up from its class."""
    new = type("New", (Message,), fields | {"kind": "sensor", "__module__": __name__})

    with pytest.raises(TypeError, match=complaint):
        catalogue.by_token(Sensed, new)
