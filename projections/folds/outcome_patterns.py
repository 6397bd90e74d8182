"""Outcome patterns: which outcomes a fire waits for, by its pack and its event."""

from datetime import datetime, timedelta

from schemas.messages.sensing import Sensed
from schemas.packs import word_patterns
from schemas.packs.manifest import CompiledPack
from schemas.packs.word_patterns import Said
from schemas.state.agent import Expectation
from schemas.values.settings import EDITION


def armed(
    pack: CompiledPack, event: Sensed, now: datetime, edition: int = EDITION
) -> tuple[Expectation, ...]:
    """Return an expectation for each outcome pattern that `event` triggers.

    Success and failure alike; each is due its own timeout after `now`.
    """
    said = words(event, edition)
    return tuple(
        Expectation(
            pattern=pattern.outcome_pattern,
            is_success=pattern.is_success,
            due=now + timedelta(seconds=pattern.timeout_sec),
        )
        for pattern in pack.pack.executive.outcome_patterns
        if word_patterns.occurs(pattern.trigger_pattern, said)
    )


def words(event: Sensed, edition: int = EDITION) -> Said:
    """Return the words of an event by an edition's rules, for `word_patterns.occurs`."""
    return word_patterns.event_words(
        event.text, event.type, event.source, event.fields, edition
    )
