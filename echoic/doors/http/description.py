"""How the bodies that routes read by themselves are described in OpenAPI."""

from typing import Any, Literal

from fastapi import FastAPI
from pydantic import BaseModel, Field

from echoic.doors.http import bodies
from echoic.doors.http.problems import Problem
from echoic.doors.requests import EventId, EventToSense
from schemas.messages.feedback import FeedbackGiven
from schemas.values.base import Name, Token
from schemas.values.meanings import describe
from schemas.values.reasons import ReportedOutcome
from schemas.values.struct_models import part_model

Fields = dict[str, Any]

_PLACE = "#/components/schemas/"


class Event(part_model(EventToSense)):  # type: ignore[misc]
    """An event; without an agent it is the token's, without a source its first one."""

    agent: Token | None = None


class CloudEvent(BaseModel):
    """An event as a CloudEvent 1.0 in JSON.

    The last segment of `source` and the last name of `type` count; `data` is the text, or the
    fields of an event.
    """

    specversion: Literal["1.0"]
    id: EventId
    source: str
    type: str
    subject: Token | None = None
    """The agent."""
    time: str | None = None
    data: str | Fields


class Vote(part_model(FeedbackGiven)):  # type: ignore[misc]
    """A vote on a decision or a heuristic; without an agent on one of the token's."""

    agent: Token | None = None


class OutcomeReport(BaseModel):
    """How it turned out what a decision advised."""

    decision_id: Name
    outcome: ReportedOutcome
    reason: str | None = Field(default=None, max_length=500)
    agent: Token | None = None


def _body(content: Fields) -> Fields:
    return {"requestBody": {"required": True, "content": content}}


def _json(model: type[BaseModel]) -> Fields:
    return {"schema": {"$ref": _PLACE + model.__name__}}


def _many(model: type[BaseModel]) -> Fields:
    ends = {"minItems": 1, "maxItems": bodies.MOST_EVENTS}
    return {"schema": {"type": "array", "items": _json(model)["schema"], **ends}}


EVENTS = _body(
    {
        bodies.PLAIN: {
            "schema": {"oneOf": [_json(Event)["schema"], _many(Event)["schema"]]}
        },
        bodies.CLOUD: _json(CloudEvent),
        bodies.CLOUD_BATCH: _many(CloudEvent),
    }
)
VOTE = _body({bodies.PLAIN: _json(Vote)})
OUTCOME = _body({bodies.PLAIN: _json(OutcomeReport)})


def described(app: FastAPI) -> Fields:
    """Return the description of an application, with these bodies."""
    if app.openapi_schema is None:
        describe()
        found = FastAPI.openapi(app)
        schemas = found["components"]["schemas"]
        for model in (Event, CloudEvent, Vote, OutcomeReport, Problem):
            told = model.model_json_schema(ref_template=_PLACE + "{model}")
            schemas.update(told.pop("$defs", {}))
            schemas[model.__name__] = told
        for path in found["paths"].values():
            for operation in path.values():
                # What is wrong is answered by 400 here.
                operation["responses"].pop("422", None)
    assert app.openapi_schema is not None, "it was made above"
    return app.openapi_schema
