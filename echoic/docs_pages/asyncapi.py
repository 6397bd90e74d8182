"""What goes over the wire, as documents for machines: JSON Schema and AsyncAPI 3.

Made from the message models and the subject grammar, never by hand.
"""

from collections.abc import Iterable
from typing import Any

from pydantic.json_schema import models_json_schema

from schemas.codec import catalogue
from schemas.codec.struct_models import message_model
from schemas.messages import feedback, sensing
from schemas.values.base import MessageType
from schemas.values.subjects import INPUT_KINDS, OUTPUT_KINDS, PARTITIONS

Document = dict[str, Any]

_MESSAGES = (*catalogue.INPUTS, *catalogue.OUTPUTS)

_HEADERS: Document = {
    "type": "object",
    "properties": {
        "ce-specversion": {"const": "1.0"},
        "ce-id": {"type": "string"},
        "ce-type": {"type": "string", "description": "`echoic.` and the message token"},
        "ce-source": {"type": "string"},
        "ce-subject": {"type": "string", "description": "the agent"},
        "ce-time": {"type": "string", "format": "date-time"},
        "ce-schemaversion": {"type": "string"},
        "traceparent": {"type": "string"},
    },
}
_MARKS: Document = {
    "ce-causeseq": {"type": "string", "description": "sequence of the input answered"},
    "ce-causeid": {"type": "string", "description": "id of the input answered"},
    "ce-index": {"type": "string", "description": "place in the group, from 0"},
    "ce-count": {"type": "string", "description": "how many outputs the group has"},
}
_TOKEN = {"description": "1 to 64 of A-Z a-z 0-9 _ -"}
_DELIVERED: Document = {
    "name": "said",
    "title": "What the companion says",
    "payload": {
        "type": "object",
        "required": ["decision_id", "event_id", "text", "type", "path"],
        "properties": {
            "decision_id": {"type": "string"},
            "event_id": {"type": "string"},
            "text": {"type": "string"},
            "type": {"type": "string", "description": "alert, suggestion, question …"},
            "urgency": {"type": "number"},
            "path": {"type": "string"},
            "action": {"type": ["object", "null"]},
            "expires_at": {"type": "string", "format": "date-time"},
        },
    },
}


def json_schema() -> Document:
    """Return one JSON Schema with every message under `$defs`."""
    _, schema = models_json_schema(
        [(message_model(kind), "validation") for kind in _MESSAGES],
        ref_template="#/$defs/{model}",
        title="Echoic messages",
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def asyncapi(version: str) -> Document:
    """Return an AsyncAPI 3.0 document of every subject that a client may meet."""
    _, schema = models_json_schema(
        [(message_model(kind), "validation") for kind in _MESSAGES],
        ref_template="#/components/schemas/{model}",
    )
    channels = _channels()
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Echoic",
            "version": version,
            "description": "Sensors publish to `in` and hear `out`.",
        },
        "channels": channels,
        "operations": _operations(channels),
        "components": {
            "messages": {model.__name__: _message(model) for model in _MESSAGES}
            | {"Said": _DELIVERED},
            "schemas": schema["$defs"],
        },
    }


def _channels() -> Document:
    return {
        "sensor": _channel(
            "in.{agent}.{source}.{type}",
            "A sensor's events; the types `feedback` and `control` are reserved.",
            [sensing.Sensed],
        ),
        "say": {
            "address": "out.{agent}.{channel}",
            "description": "What the companion says.",
            "parameters": {"agent": _TOKEN, "channel": _TOKEN},
            "messages": {"Said": {"$ref": "#/components/messages/Said"}},
        },
        "ask_feedback": _channel(
            "svc.{agent}.feedback", "Feedback, answered.", [feedback.FeedbackGiven]
        ),
        "ask_control": _channel(
            "svc.{agent}.control", "A control, answered.", _of_kind("control")
        ),
        "ask_process": _channel(
            "svc.{agent}.process", "An event, and the decision on it.", [sensing.Sensed]
        ),
        "ask_heuristics": _channel(
            "svc.{agent}.heuristics",
            "The heuristics of an agent: all, one, those alike.",
            [],
        ),
        "ask_personality": _channel(
            "svc.{agent}.personality", "The traits in force, and what moves them.", []
        ),
        "ask_state": _channel("svc.{agent}.state", "What is known of an agent.", []),
        **{
            f"log_in_{kind}": _channel(
                f"ev.{{partition}}.in.{{agent}}.{kind}.{{detail}}",
                f"Inputs of kind {kind}, in the log.",
                _of_kind(kind),
            )
            for kind in INPUT_KINDS
        },
        **{
            f"log_out_{kind}": _channel(
                f"ev.{{partition}}.out.{{agent}}.{kind}.{{detail}}",
                f"Outputs of kind {kind}, in the log.",
                _of_kind(kind),
            )
            for kind in OUTPUT_KINDS
        },
    }


def _channel(address: str, description: str, models: Iterable[MessageType]) -> Document:
    # Parameters are the tokens in braces; the rest of an address is literal.
    names = [part[1:-1] for part in address.split(".") if part.startswith("{")]
    parameters: Document = dict.fromkeys(names, _TOKEN)
    if "partition" in parameters:
        parameters["partition"] = {
            "description": f"fnv1a32(agent) modulo {PARTITIONS}",
            "enum": [str(partition) for partition in range(PARTITIONS)],
        }
    return {
        "address": address,
        "description": description,
        "parameters": parameters,
        "messages": {
            model.__name__: {"$ref": f"#/components/messages/{model.__name__}"}
            for model in models
        },
    }


def _of_kind(kind: str) -> list[MessageType]:
    return [model for model in _MESSAGES if model.kind == kind]


def _operations(channels: Document) -> Document:
    """Return the program's own view: it receives what sensors send, and sends the rest."""
    # Requests on `svc` come from clients; what is in the log the program wrote itself.
    received = {"sensor", *(name for name in channels if name.startswith("ask_"))}
    return {
        name: {
            "action": "receive" if name in received else "send",
            "channel": {"$ref": f"#/channels/{name}"},
        }
        for name in channels
    }


def _message(model: MessageType) -> Document:
    is_output = model.kind in OUTPUT_KINDS
    # Only outputs belong to a group, so only they carry its marks.
    properties = _HEADERS["properties"] | (_MARKS if is_output else {})
    return {
        "name": model.token,
        "title": " ".join((model.__doc__ or "").split()),
        "contentType": "application/json",
        "headers": {"type": "object", "properties": properties},
        "payload": {"$ref": f"#/components/schemas/{model.__name__}"},
    }
