"""Experiments: which one runs, which variant an event gets, and since when it is in force."""

from datetime import datetime

from msgspec.structs import replace

from projections.folds.fold_context import Origin
from schemas.messages.controls import ExperimentStarted, ExperimentStopped
from schemas.messages.experiments import (
    SHARE_OF_A,
    Assignment,
    Experiment,
    UnitKind,
    Variant,
    VariantName,
)
from schemas.messages.sensing import PERSONS_WORDS, Sensed
from schemas.state.agent import AgentState
from schemas.values import ids
from schemas.values.base import NAME_LIMIT
from schemas.values.settings import MindSettings

_PURPOSE = "experiment"
"""The purpose of the variant's draw; part of its key."""

_PERSON_FIELD = "person"
"""The field that says which person an event concerns, where its `person` does not."""


def applied(
    state: AgentState, message: ExperimentStarted | ExperimentStopped, origin: Origin
) -> AgentState:
    """Return the state after an experiment was started or stopped."""
    if isinstance(message, ExperimentStopped):
        return replace(state, experiment=None)
    now = state.now or origin.context.input.at
    return replace(state, experiment=_started(message, now))


def decided(
    experiment: Experiment, assignment: Assignment, now: datetime
) -> Experiment:
    """Return the experiment after a decision under one of its variants."""
    name = assignment.variant
    switched_at = _switched(experiment, name, now)
    return replace(experiment, variant=name, switched_at=switched_at)


def asked(state: AgentState, ask_id: str) -> AgentState:
    """Return the state whose pending answer keeps the variant it was asked under.

    The variant may change before the answer comes, which is still judged by this one.
    """
    experiment, pending = state.experiment, state.pending[ask_id]
    if experiment is None or experiment.variant is None:
        return state
    variant = experiment.named(experiment.variant)
    waits = replace(pending, variant=variant)
    return replace(state, pending=state.pending.set(ask_id, waits))


def under(settings: MindSettings, variant: Variant) -> MindSettings:
    """Return the settings with a variant's personality in place of theirs."""
    if variant.personality is None:
        return settings
    return settings.model_copy(update={"personality": variant.personality})


def _switched(
    experiment: Experiment, name: VariantName, now: datetime
) -> datetime | None:
    """Return when the variant changed to `name`; None if no other was in force before.

    The washout counts from then, so that a first variant has none.
    """
    return experiment.switched_at if experiment.variant in (None, name) else now


def assigned(
    experiment: Experiment,
    event: Sensed,
    session_id: str,
    *,
    seed: str,
    agent: str,
    now: datetime,
) -> Assignment:
    """Return the variant that an event is decided under.

    A draw that is keyed by the experiment and the unit decides, so a session or a person
    has the same variant for as long as the experiment runs, in the log and in every replay.
    """
    unit = _unit(experiment.by, event, session_id)
    # Keyed by the unit and not by the event, so that nobody changes sides within one.
    value = ids.draw(seed, agent, f"{experiment.id}/{unit}", _PURPOSE)
    name: VariantName = "a" if value < SHARE_OF_A else "b"
    return Assignment(
        id=experiment.id,
        variant=name,
        probability=SHARE_OF_A if name == "a" else 1.0 - SHARE_OF_A,
        unit=unit,
        washout=_is_washing_out(experiment, name, now),
    )


def _started(message: ExperimentStarted, now: datetime) -> Experiment:
    return Experiment(
        id=message.experiment_id,
        a=message.a,
        b=message.b,
        by=message.by,
        washout_s=message.washout_s,
        title=message.title,
        started_at=now,
    )


def _unit(by: UnitKind, event: Sensed, session_id: str) -> str:
    """Return the session, or the person whom the event concerns if that is known.

    The event's own `person` says so first, as everywhere; a field of that name counts for
    sensors that know no other, and words of nobody named are their source's.
    """
    if by == "session":
        return session_id
    person = event.person or event.fields.get(_PERSON_FIELD)
    if not isinstance(person, str) or not person:
        return event.source if event.type == PERSONS_WORDS else session_id
    # A digest keeps units apart that a cut would merge.
    if len(person) > NAME_LIMIT:
        return ids.digest(person.encode())
    return person


def _is_washing_out(experiment: Experiment, name: VariantName, now: datetime) -> bool:
    switched_at = _switched(experiment, name, now)
    if switched_at is None:
        return False
    # Below 0 the agent's time was set back since, by a session with its own clock.
    return 0.0 <= (now - switched_at).total_seconds() < experiment.washout_s
