"""An occasion: an event to decide on, with all that its answer will need."""

from datetime import datetime, timedelta

from msgspec import Struct

from handlers.mind.context import TurnContext
from handlers.mind.stages import completion, outcomes, salience
from handlers.mind.stages.salience import Assessment
from projections.folds import experiments
from projections.folds.events import Domain
from schemas.messages.experiments import (
    SHARE_OF_A,
    Assignment,
    Experiment,
    UnitKind,
    VariantName,
)
from schemas.messages.sensing import Sensed
from schemas.ports.decision_context import HeuristicCandidate
from schemas.values import ids
from schemas.values.base import NAME_LIMIT
from schemas.values.exact_math import round6
from schemas.values.reasons import ResponseType

# A day: an event that far off has a wrong clock, or waited too long to tell.
_IMPLAUSIBLE_S = 24 * 3600.0

PURPOSE = "experiment"
"""The purpose of the variant's draw; part of its key."""

PERSON_FIELD = "person"
"""The field of an event that says which person it concerns."""

WORDS_TYPE = "message"
"""The type of an event that is a person's own words: their source is the person."""


class Occasion(Struct, frozen=True):
    """An event that is decided on."""

    id: str
    """The event's."""
    at: datetime
    """The agent's time."""
    event: Sensed
    domain: Domain
    assessment: Assessment
    ttl_s: float
    """For how many seconds an answer is worth delivering."""
    expires_at: datetime
    channel: str
    """Where an answer goes."""
    flags: tuple[str, ...]
    """Names of oddities in the input, for people to look at."""
    assignment: Assignment | None
    """Which variant of a running experiment is in force."""
    own_urgency: float
    """How soon an answer is worth having, by the event alone."""

    @property
    def priority(self) -> float:
        """The priority of its asks."""
        assessed = self.assessment
        return completion.priority(
            assessed.salience, assessed.is_threat, assessed.is_addressed
        )

    @property
    def response_type(self) -> ResponseType:
        """What sort of response a model's answer will be."""
        return "alert" if self.assessment.is_threat else "suggestion"

    def urgency(self, heuristic: HeuristicCandidate | None = None) -> float:
        """Return the urgency, 0 to 1: the higher of the event's and the heuristic's."""
        own = heuristic.urgency if heuristic else 0.0
        return round6(max(self.own_urgency, own))


def occasion(turn: TurnContext, event: Sensed, domain: Domain) -> Occasion:
    """Make the occasion of an event; the event's own values go before the pack's."""
    declared, pack = domain.event_type, domain.pack
    ttl_s = (
        event.ttl_s
        or (declared.ttl_s if declared else None)
        or (pack.pack.ttl_s if pack else None)
        or turn.settings.ttl_s
    )
    assessment = salience.assess(
        turn.state, turn.settings, turn.appearance, event, turn.aids.vector
    )
    return Occasion(
        id=turn.input.id,
        at=turn.now,
        event=event,
        domain=domain,
        assessment=assessment,
        ttl_s=ttl_s,
        expires_at=turn.now + timedelta(seconds=ttl_s),
        channel=(declared.channel if declared else None) or turn.settings.channel,
        flags=_flags(turn, event),
        assignment=_assignment(turn, event),
        own_urgency=salience.urgency(
            event.urgency, assessment.salience.dimensions, turn.settings.edition
        ),
    )


def _assignment(turn: TurnContext, event: Sensed) -> Assignment | None:
    experiment, session = turn.state.experiment, turn.state.session
    if experiment is None or session is None:
        return None
    return assigned(
        experiment,
        event,
        session.id,
        seed=turn.settings.seed,
        agent=turn.input.agent,
        now=turn.now,
    )


def _flags(turn: TurnContext, event: Sensed) -> tuple[str, ...]:
    """Return the oddities: no vector, an implausible time, a reply to nothing known."""
    flags = []
    if turn.settings.edition >= 2 and turn.aids.vector is None:
        flags.append("no_vector")
    if event.occurred_at is not None:
        apart = (event.occurred_at - turn.now).total_seconds()
        if abs(apart) > _IMPLAUSIBLE_S:
            flags.append("implausible_time")
    if event.in_reply_to is not None:
        decision_id = outcomes.replied_decision(turn.state, event)
        if decision_id is None or turn.state.decisions.get(decision_id) is None:
            flags.append("unknown_reply")
    return tuple(flags)


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
    """Return the session, or the person whom the event concerns if that is known."""
    if by == "session":
        return session_id
    person = event.fields.get(PERSON_FIELD)
    if not isinstance(person, str) or not person:
        return event.source if event.type == WORDS_TYPE else session_id
    # A digest keeps units apart that a cut would merge.
    if len(person) > NAME_LIMIT:
        return ids.digest(person.encode())
    return person


def _is_washing_out(experiment: Experiment, name: VariantName, now: datetime) -> bool:
    switched_at = experiments.switched(experiment, name, now)
    if switched_at is None:
        return False
    # Below 0 the agent's time was set back since, by a session with its own clock.
    return 0.0 <= (now - switched_at).total_seconds() < experiment.washout_s
