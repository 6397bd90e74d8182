"""What goes over the wire, as documents for machines: JSON Schema and AsyncAPI 3.

Made from the message models and the subject grammar, never by hand.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
from pydantic.json_schema import models_json_schema

from echoic.doors.calls import CALLS, Service
from echoic.doors.engines.messages import Said
from echoic.doors.replies import Refused
from schemas.codec import catalogue
from schemas.messages import sensing
from schemas.values.base import MessageType, Part
from schemas.values.meanings import describe
from schemas.values.struct_models import model_of, part_model
from schemas.values.subjects import INPUT_KINDS, OUTPUT_KINDS, PART, PARTITIONS

_Document = dict[str, Any]

_MESSAGES = (*catalogue.INPUTS, *catalogue.OUTPUTS)
_OTHERS: list[type[Part]] = [
    Said,
    *(
        model_of(each.request)
        for each in CALLS
        if each.request is not None and each.request not in _MESSAGES
    ),
]
_REPLIES: list[type] = [Refused, *dict.fromkeys(each.reply for each in CALLS)]
_ANSWERS = "answers"

_HEADERS: _Document = {
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
_MARKS: _Document = {
    "ce-causeseq": {"type": "string", "description": "sequence of the input answered"},
    "ce-causeid": {"type": "string", "description": "id of the input answered"},
    "ce-index": {"type": "string", "description": "place in the group, from 0"},
    "ce-count": {"type": "string", "description": "how many outputs the group has"},
}
_TOKEN = {"description": "1 to 64 of A-Z a-z 0-9 _ -"}
_PART: _Document = {
    "name": "said_in_part",
    "title": "All words so far of what the companion is about to say",
    "payload": {
        "type": "object",
        "required": ["decision_id", "text", "final"],
        "properties": {
            "decision_id": {"type": "string"},
            "event_id": {"type": "string"},
            "text": {"type": "string"},
            "type": {"type": "string"},
            "final": {"type": "boolean", "description": "true if no more is to come"},
            "retracted": {"type": "boolean", "description": "nothing of it is said"},
        },
    },
}


def json_schema() -> _Document:
    """Return one JSON Schema with every message under `$defs`."""
    describe()
    _, schema = models_json_schema(
        [(part_model(kind), "validation") for kind in _MESSAGES],
        ref_template="#/$defs/{model}",
        title="Echoic messages",
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def asyncapi(version: str) -> _Document:
    """Return an AsyncAPI 3.0 document of every subject that a client may meet."""
    describe()
    _, schema = models_json_schema(
        [(part_model(kind), "validation") for kind in _MESSAGES],
        ref_template="#/components/schemas/{model}",
    )
    channels = _channels()
    _, asked = models_json_schema(
        [(model, "validation") for model in _OTHERS],
        ref_template="#/components/schemas/{model}",
    )
    _, replied = msgspec.json.schema_components(
        _REPLIES, ref_template="#/components/schemas/{name}"
    )
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
            | {"SaidInPart": _PART}
            | {each.__name__: _plain(each) for each in (*_OTHERS, *_REPLIES)},
            "schemas": {**asked["$defs"], **schema["$defs"], **replied},
        },
    }


def _channels() -> _Document:
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
        "say_part": {
            "address": f"out.{{agent}}.{{channel}}.{PART}",
            "description": "What the companion is about to say, before it is whole.",
            "parameters": {"agent": _TOKEN, "channel": _TOKEN},
            "messages": {"SaidInPart": {"$ref": "#/components/messages/SaidInPart"}},
        },
        **{_ask(each): _service(each) for each in CALLS},
        # Without an address: the caller's inbox, which its request names.
        _ANSWERS: _channel("", "Replies to calls.", _REPLIES) | {"address": None},
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


def _ask(service: Service) -> str:
    return f"ask_{service.name.replace('.', '_')}"


def _service(service: Service) -> _Document:
    """Return the channel of a service: its requests, and the replies on their inboxes."""
    wanted = service.request
    requests: Any = _of_kind("control") if wanted is None else [wanted]
    channel = _channel(f"svc.{{agent}}.{service.name}", service.meaning, requests)
    return channel | {"x-command": service.command}


def _channel(address: str, description: str, models: Iterable[type]) -> _Document:
    # Parameters are the tokens in braces; the rest of an address is literal.
    names = [part[1:-1] for part in address.split(".") if part.startswith("{")]
    parameters: _Document = dict.fromkeys(names, _TOKEN)
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


def _operations(channels: _Document) -> _Document:
    """Return the program's own view: it receives what sensors send, and sends the rest."""
    # Requests on `svc` come from clients; what is in the log the program wrote itself.
    calls = {_ask(each): each for each in CALLS}
    return {
        name: {
            "action": "receive" if name in calls or name == "sensor" else "send",
            "channel": {"$ref": f"#/channels/{name}"},
            **({"reply": _reply(calls[name])} if name in calls else {}),
        }
        for name in channels
    }


def _reply(service: Service) -> _Document:
    """Return where the reply to a call goes, and what it may be."""
    return {
        "address": {"location": "$message.header#/reply"},
        "channel": {"$ref": f"#/channels/{_ANSWERS}"},
        "messages": [
            {"$ref": f"#/channels/{_ANSWERS}/messages/{each.__name__}"}
            for each in (service.reply, Refused)
        ],
    }


def _plain(model: type) -> _Document:
    """Return a request or a reply, which is no message of the log."""
    return {
        "name": model.__name__,
        "title": " ".join((model.__doc__ or "").split()),
        "contentType": "application/json",
        "payload": {"$ref": f"#/components/schemas/{model.__name__}"},
    }


def _message(model: MessageType) -> _Document:
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
