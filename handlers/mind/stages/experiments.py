"""Experiments: which of two ways to behave is in force at an occasion.

A draw that is keyed by the experiment and the unit decides, so a session or a person has
the same variant for as long as the experiment runs, in the log and in every replay.
"""

from datetime import datetime

from projections.folds import experiments
from schemas.messages.experiments import (
    SHARE_OF_A,
    Assignment,
    Experiment,
    UnitKind,
    VariantName,
)
from schemas.messages.sensing import Sensed
from schemas.values import ids
from schemas.values.base import NAME_LIMIT

PURPOSE = "experiment"
"""What the draw of the variant is for; part of its key."""

PERSON_FIELD = "person"
"""The field of an event that says which person it concerns."""

WORDS_TYPE = "message"
"""The type of an event that is a person's own words: their source is the person."""


def assigned(
    experiment: Experiment,
    event: Sensed,
    session_id: str,
    *,
    seed: str,
    agent: str,
    now: datetime,
) -> Assignment:
    """The variant that an event is decided under."""
    unit = _unit(experiment.by, event, session_id)
    value = ids.draw(seed, agent, f"{experiment.id}/{unit}", PURPOSE)
    name: VariantName = "a" if value < SHARE_OF_A else "b"
    return Assignment(
        id=experiment.id,
        variant=name,
        probability=SHARE_OF_A if name == "a" else 1.0 - SHARE_OF_A,
        unit=unit,
        washout=_is_washing_out(experiment, name, now),
    )


def _unit(by: UnitKind, event: Sensed, session_id: str) -> str:
    """The session, or the person whom the event concerns if that is known."""
    if by == "session":
        return session_id
    person = event.fields.get(PERSON_FIELD)
    if not isinstance(person, str) or not person:
        return event.source if event.type == WORDS_TYPE else session_id
    if len(person) > NAME_LIMIT:
        return ids.digest(person.encode())
    return person


def _is_washing_out(experiment: Experiment, name: VariantName, now: datetime) -> bool:
    switched_at = experiments.switched(experiment, name, now)
    if switched_at is None:
        return False
    # Below 0 the agent's time was set back since, by a session with its own clock.
    return 0.0 <= (now - switched_at).total_seconds() < experiment.washout_s
