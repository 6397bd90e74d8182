"""The generated page of the services, made from their catalogue."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import fields as fields_of

from echoic.doors.calls import CALLS, Service
from echoic.doors.requests import Asked
from schemas.messages.controls import Control
from schemas.values.struct_models import model_of

_INTRODUCTION = """\
# Services

Programs call a running instance by request and reply at its broker:

```sh
nats request svc.ada.message '{"text": "the oven is hot", "person": "ben"}'
nats service info echoic
```

The subject is `svc.<agent>.<service>`; the agent `_` stands for all. Body and reply are JSON
objects. All services are discovered by the standard protocol (`$SRV.PING`, `$SRV.INFO`,
`$SRV.STATS`), and `echoic schema --asyncapi` describes them for generators of code.

A reply has `accepted`. If that is false, `error` has a `reason` for programs, a `detail`, and
where fields are wrong, each of them in `fields`; the headers `Nats-Service-Error` and
`-Code` say so, too. What changes something is an input like any other: the reply has its
`sequence` in the log and the mind's `answer`, and is not accepted if the mind refused it. A
header `ce-id` of the caller's makes a repeated call count once; of an event it is the
`event_id`, unless the body has one. A decision not to answer has `accepted` false, no `error`,
and its reason in `silence`. A field that a service does not know is refused, and so is `true`
where a number is wanted.

Any account of the broker may call them but a sensor's, which may publish its events and
nothing else. Of an embedded broker there is one: `instance.json` in the data folder has its
`nats_url`, `nats_user` and `nats_password` while the instance runs. This page is
generated: `make docs` writes it.

| service | what it does | the command | in the source design |
|---|---|---|---|
"""


def render() -> str:
    """Return the whole page."""
    rows = "".join(map(_row, CALLS))
    return f"{_INTRODUCTION}{rows}\n## Requests and replies\n\n{''.join(_parts())}"


def _row(service: Service) -> str:
    return (
        f"| `{service.name}` | {service.meaning} | `{service.command}` |"
        f" {service.seed} |\n"
    )


def _parts() -> Iterator[str]:
    yield "| service | request | reply, if accepted |\n|---|---|---|\n"
    for service in CALLS:
        reply = (each.name for each in fields_of(service.reply))
        shown = ", ".join(f"`{each}`" for each in reply)
        yield f"| `{service.name}` | {_request(service.request)} | {shown} |\n"


def _request(model: type[Asked] | None) -> str:
    """Return a request's fields, or where they are described."""
    if model is None:
        return "`control`, and the fields of [that control](events.md)"
    known: dict[str, Any] = dict(model_of(model).model_fields)
    fields = ", ".join(
        f"**`{name}`**" if field.is_required() else f"`{name}`"
        for name, field in known.items()
    )
    if issubclass(model, Control):
        return f"{fields}: [{model.__name__}](events.md#{model.__name__.lower()})"
    return fields or "nothing"
