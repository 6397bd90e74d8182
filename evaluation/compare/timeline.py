"""Draw each session's timeline: the arms of both sides, event by event, in two lanes."""

from evaluation.compare.charts import Timeline, TimelineEvent
from evaluation.compare.flips import arm_class
from evaluation.compare.session import SessionResult
from schemas.values.base import rfc3339

EVENT_LIMIT = 2_000
"""Events of a session that are drawn at most, so that the page stays responsive."""

GATED = "gated"
"""The lane's word for a decision that a gate made before any strategy."""


def lanes(result: SessionResult, challenger: int) -> Timeline:
    """Return one session's lanes: the recorded arms and the challenger's."""
    theirs = {
        each.record.id: arm_class(each.odds[challenger].greedy)
        for each in result.decisions
    }
    run = result.closed_loops[challenger - 1]
    outcomes = result.recorded.outcomes
    events = []
    for record in result.recorded.records[:EVENT_LIMIT]:
        at_logged_state = theirs.get(record.id, GATED)
        # The arm of its own run, if it decided there, is preferred to its most likely one
        # at the logged state.
        own = run.classes.get(record.decided.event_id)
        outcome = outcomes.get(record.id)
        events.append(
            TimelineEvent(
                at=rfc3339(record.at),
                baseline=GATED if record.is_gated else arm_class(record.decided.arm),
                challenger=own or at_logged_state,
                outcome=outcome.value if outcome is not None else None,
            )
        )
    name = ", ".join(result.recording.sessions)
    return Timeline(session=name, events=tuple(events))
