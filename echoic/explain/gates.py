"""What each gate is called, which silence it makes and in what words, and what passes it."""

from collections.abc import Mapping

from schemas.messages.decisions import Decided, Gate
from schemas.values.reasons import PASSERS, Passer

UNDELIVERED: Mapping[str, str] = {
    "expired": "it came too late to be delivered",
    "refused": "its channel refused it",
    "other_clock": "the other agent's time is another world's",
}
"""Why a delivery failed, in words."""

REASONS: Mapping[str, str] = {
    "below_relevance": "it did not matter enough",
    "habituated": "such events have come too often lately",
    "suppressed": "such events are suppressed",
    "cooldown": "it spoke too recently",
    "rate": "it has said enough for now",
    "quiet": "quiet was asked for",
    "quiet_hours": "these are quiet hours",
    "muted": "it is muted",
    "informational": "the event only informs",
    "not_immediate": "nothing learnt answers it, and it is not to wait for a model",
    "no_candidate": "nothing learnt fits",
    "low_confidence": "nothing learnt is trusted enough",
    "llm_unavailable": "nothing learnt answers it, and no model is configured",
    "budget_exhausted": "the budget for models is used up",
    "safety": "the answer was not safe",
    "personality_veto": "it is not in its character",
    "strategy_silent": "the strategy chose silence",
    "learned_silence": "it learnt that nothing is to be said at such times",
    "recently_quipped": "it made a quip not long ago",
    "dead": "the character is dead",
    "player_controlled": "a player controls the character",
    "locked": "it is kept from deciding",
    "asleep": "the character is asleep",
    "nothing_due": "there was nothing to do about it",
    "already_said": "it was said already, and stands as it did",
    "own_echo": "it took the words for its own voice, or for no words at all",
    "error": "something failed",
    "stale": "the answer came too late",
    "superseded": "something newer took its place",
    "batched": "it was answered together with others",
    "busy": "the person was busy",
    "llm_no_response": "the model gave no answer",
    "llm_timeout": "the model took too long",
    "llm_declined": "the model had nothing to say",
    "llm_malformed": "the model's answer was not in the form asked for",
    "cancelled": "it was cancelled",
    "interrupted": "it was interrupted before it began",
}
"""Why nothing was said, by the reason on record."""

# The reason that each gate gives for a silence when it closes, if it is not its name.
SILENCE_OF_GATE: Mapping[str, str] = {
    "intent": "informational",
    "relevance": "below_relevance",
    "habituation": "habituated",
    "confidence": "low_confidence",
    "heuristic_cooldown": "cooldown",
    "budget": "budget_exhausted",
    "quip": "recently_quipped",
}

_OF_SALIENCE: Mapping[str, str] = {
    "relevance": "salience",
    "habituation": "salience after habituation",
}
"""Where salience is all that is weighed: else the gate is of relevance."""

_VALUES: Mapping[str, str] = {
    "relevance": "relevance",
    "habituation": "relevance after habituation",
    "cooldown": "time since the last response",
    "heuristic_cooldown": "time since that heuristic answered",
    "already_said": "time since it was said",
    "quip": "time since the last quip",
    "rate": "responses left in the hour",
    "budget": "what is left of the budget",
}
"""What a gate's value is, in words."""


def value_of(gate: Gate, decided: Decided) -> str:
    """Return what a gate of a decision holds against its threshold, in words."""
    if decided.relevance is None and gate.name in _OF_SALIENCE:
        return _OF_SALIENCE[gate.name]
    return _VALUES.get(gate.name, gate.name)


_OF_PASSERS: Mapping[Passer, str] = {
    "threat": "alerts",
    "own_words": "answers to a person's own words",
    "asker": "answers to the words of whoever asked for it",
    "urgent": "what is urgent",
    "trusted": "what a trusted heuristic matches where no sensor says what it is worth",
    "watched": "what somebody asked to be told of",
}
_ENDED_BY: Mapping[str, str] = {
    "muted": "echoic mute off",
    "quiet": "echoic quiet off",
    "suppressed": "echoic salience clear ID",
}
"""The command that ends what a gate is closed by."""


def passers_of(gate: str) -> str:
    """Return who passes a gate that is closed, in words; empty if nobody does."""
    *others, last = [_OF_PASSERS[each] for each in PASSERS[gate]] or [""]
    return f"{', '.join(others)} and {last}" if others else last


def _told(gate: str) -> str:
    passers, command = passers_of(gate), _ENDED_BY.get(gate)
    until = f" until it ends: `{command}`" if command else ""
    if not passers:
        return f"Nothing passes{until}."
    return f"{passers[0].upper()}{passers[1:]} pass{',' if until else ''}{until}."


PASSES: Mapping[str, str] = {
    # Of what an event is worth its numbers tell.
    **{gate: _told(gate) for gate in PASSERS if gate not in _OF_SALIENCE},
    "budget": "What a trusted heuristic answers passes.",
}
"""What passes a gate that is closed to other things."""
