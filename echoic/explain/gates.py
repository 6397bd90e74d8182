"""What each gate is called, which silence it makes and in what words, and what passes it."""

from collections.abc import Mapping

from schemas.messages.decisions import Decided, Gate

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
    "own_echo": "it took the words for its own voice, or for no words at all",
    "error": "something failed",
    "stale": "the answer came too late",
    "superseded": "something newer took its place",
    "batched": "it was answered together with others",
    "busy": "the person was busy",
    "llm_no_response": "the model gave no answer",
    "llm_timeout": "the model took too long",
    "llm_declined": "the model said nothing worth hearing",
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


_WORDS_PASS = "Alerts and answers to a person's own words pass."

PASSES: Mapping[str, str] = {
    "muted": "Nothing passes until it ends: `echoic mute off`.",
    "quiet": (
        "Alerts pass, and answers to the words of whoever asked for it, until it ends:"
        " `echoic quiet off`."
    ),
    "quiet_hours": _WORDS_PASS,
    "suppressed": (
        "Alerts and answers to a person's own words pass, until it ends:"
        " `echoic salience clear ID`."
    ),
    "cooldown": _WORDS_PASS,
    "heuristic_cooldown": _WORDS_PASS,
    "rate": _WORDS_PASS,
    "budget": "What a trusted heuristic answers passes.",
    "quip": _WORDS_PASS,
    "busy": _WORDS_PASS,
}
"""What passes a gate that is closed to other things."""
