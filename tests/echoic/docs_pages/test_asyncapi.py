"""Documents for machines: every message and every subject is in them."""

import json

from echoic.docs_pages.asyncapi import asyncapi, json_schema
from echoic.docs_pages.events import render
from echoic.doors.calls import CALLS
from schemas.codec import catalogue
from schemas.values.subjects import INPUT_KINDS, OUTPUT_KINDS

MODELS = (*catalogue.INPUTS, *catalogue.OUTPUTS)


def test_the_json_schema_has_every_message() -> None:
    """A program can check any body of the log."""
    assert {model.__name__ for model in MODELS} <= set(json_schema()["$defs"])


def test_asyncapi_has_every_message_and_kind() -> None:
    """Every message is a component; every kind of the log has its channel."""
    document = asyncapi("1.2.3")

    assert document["asyncapi"] == "3.0.0"
    assert document["info"]["version"] == "1.2.3"
    messages = document["components"]["messages"]
    assert {model.__name__ for model in MODELS} <= set(messages)
    channels = document["channels"]
    assert {f"log_in_{kind}" for kind in INPUT_KINDS} <= set(channels)
    assert {f"log_out_{kind}" for kind in OUTPUT_KINDS} <= set(channels)
    assert channels["sensor"]["address"] == "in.{agent}.{source}.{type}"


def test_every_reference_of_the_document_leads_somewhere() -> None:
    """A generator of code can follow each $ref."""
    document = asyncapi("1")

    references = set(_references(document))
    assert references
    for reference in references:
        place: object = document
        for step in reference.removeprefix("#/").split("/"):
            assert isinstance(place, dict)
            place = place[step]


def test_every_service_says_what_it_takes_and_replies() -> None:
    """With the types of both, and the refusal."""
    document = asyncapi("1")
    for service in CALLS:
        name = f"ask_{service.name.replace('.', '_')}"
        channel, operation = document["channels"][name], document["operations"][name]
        replies = [
            each["$ref"].split("/")[-1] for each in operation["reply"]["messages"]
        ]
        assert channel["address"] == f"svc.{{agent}}.{service.name}"
        assert len(channel["messages"]) >= 1
        assert replies == [service.reply.__name__, "Refused"]
    schemas = document["components"]["schemas"]
    assert set(schemas["Refused"]["required"]) == {"accepted", "error"}


def test_addresses_and_parameters_agree() -> None:
    """Each `{name}` of an address is explained, and nothing else is."""
    for channel in asyncapi("1")["channels"].values():
        named = {
            part[1:-1]
            for part in (channel["address"] or "").split(".")
            if part.startswith("{")
        }
        assert named == set(channel["parameters"])


def test_the_documents_are_json() -> None:
    """Nothing in them is more than JSON can hold."""
    assert json.loads(json.dumps(asyncapi("1"))) == asyncapi("1")


def test_the_page_has_every_message() -> None:
    """docs/events.md explains all of them."""
    page = render()

    assert all(f"### {model.__name__}\n" in page for model in MODELS)


def _references(value: object) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [each for part in value.values() for each in _references(part)]
    if isinstance(value, list):
        return [each for part in value for each in _references(part)]
    return []
