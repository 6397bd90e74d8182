"""Which outcomes a fire waits for: the patterns of its pack that its event triggers."""

from datetime import datetime, timedelta

from schemas import patterns
from schemas.packs import CompiledPack
from schemas.sensing import Sensed
from schemas.state import Expectation


def armed(pack: CompiledPack, event: Sensed, now: datetime) -> tuple[Expectation, ...]:
    """Every outcome pattern that `event` triggers, success and failure alike."""
    return tuple(
        Expectation(
            pattern=pattern.outcome_pattern,
            is_success=pattern.is_success,
            due=now + timedelta(seconds=pattern.timeout_sec),
        )
        for pattern in pack.pack.executive.outcome_patterns
        if matches(pattern.trigger_pattern, event)
    )


def matches(pattern: str, event: Sensed) -> bool:
    """Whether the words of `pattern` stand in the event."""
    return patterns.matches(pattern, event.text, event.type, event.source, event.fields)
