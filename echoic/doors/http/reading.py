"""What clients may read: decisions, why they came out so, sessions, and what is known."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import orjson
from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel

from echoic.client import decision_json, find
from echoic.client.names import heuristic_names
from echoic.doors.http.door import Door, door_of, readable
from echoic.doors.http.problems import ProblemError, of_refusal
from echoic.errors import NotFoundError
from echoic.explain.as_json import explained
from echoic.explain.explain import explain
from projections.errors import ProjectionError
from projections.store import queries
from projections.store.store import Store
from replay.recording.decisions import DecisionRecord
from streams.errors import StreamsError
from streams.jetstream.connection import request

router = APIRouter(prefix="/v1/agents/{agent}", tags=["reading"])

_MOST_ROWS = 500

Agent = Annotated[str, Depends(readable)]
_Here = Annotated[Door, Depends(door_of)]
_Fields = dict[str, Any]
_T = TypeVar("_T")


class Decisions(BaseModel):
    """A page of decisions, the newest first."""

    decisions: list[queries.Decision]
    next_before: int | None = None
    """`before` of the next page; none: this is the last."""


class Sessions(BaseModel):
    """The sessions of an agent, the newest first."""

    sessions: list[queries.Session]


@router.get("/decisions")
async def get_decisions(
    agent: Agent,
    door: _Here,
    before: Annotated[int | None, Query(ge=0, lt=2**63)] = None,
    limit: Annotated[int, Query(ge=1, le=_MOST_ROWS)] = 50,
    session: str | None = None,
) -> Decisions:
    """Return the decisions of an agent before a sequence, from the read models."""
    rows = await _stored(
        door,
        lambda store: queries.decisions(
            store, agent, session=_clean(session), before=before, limit=limit
        ),
    )
    more = rows[-1].sequence if len(rows) == limit else None
    return Decisions(decisions=list(rows), next_before=more)


@router.get("/decisions/{id_}")
async def get_decision(agent: Agent, id_: str, door: _Here) -> _Fields:
    """Return a decision, from the log; the beginning of its id is enough."""
    return decision_json.as_fields(await _decision(door, agent, id_))


@router.get("/decisions/{id_}/explanation")
async def get_explanation(agent: Agent, id_: str, door: _Here) -> _Fields:
    """Return the explanation of a decision, as `echoic explain --json` does."""
    record = await _decision(door, agent, id_)
    names = await heuristic_names(door.connection.log, agent)
    return explained(record, explain(record, names))


@router.get("/sessions")
async def get_sessions(agent: Agent, door: _Here) -> Sessions:
    """Return the sessions of an agent, from the read models."""
    rows = await _stored(door, lambda store: queries.sessions(store, agent))
    return Sessions(sessions=list(rows))


@router.get("/state")
async def get_state(agent: Agent, door: _Here) -> _Fields:
    """Return what the mind knows of an agent, as `echoic state --json` does."""
    try:
        found = await request(door.connection.client, f"svc.{agent}.state", b"{}")
    except StreamsError as error:
        raise ProblemError(503, "log_unavailable", str(error)) from error
    reply: _Fields = orjson.loads(found.data)
    if "error" in reply:
        raise of_refusal(reply["error"])
    state: _Fields = reply["state"]
    return state


async def _decision(door: Door, agent: str, id_: str) -> DecisionRecord:
    try:
        return await find.find_decision(door.connection.log, agent, id_)
    except NotFoundError as error:
        raise ProblemError(404, "unknown_decision", error.what) from error
    except StreamsError as error:
        raise ProblemError(503, "log_unavailable", str(error)) from error


async def _stored(door: Door, read: Callable[[Store], _T]) -> _T:
    """Return what a question to the read models brings.

    Raises:
        ProblemError: there are none, or they do not answer.
    """
    url = door.connection.database_url
    if url is None:
        raise ProblemError(
            503, "no_read_models", "this instance runs without PostgreSQL"
        )

    def ask() -> _T:
        with Store(url) as store:
            return read(store)

    try:
        # The store's driver blocks.
        return await asyncio.to_thread(ask)
    except ProjectionError as error:
        raise ProblemError(503, "no_read_models", str(error)) from error


def _clean(text: str | None) -> str | None:
    # PostgreSQL takes no NUL in a text, and so no session has one.
    return text.replace("\0", "�") if text is not None else None
