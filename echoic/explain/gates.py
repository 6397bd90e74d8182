"""What each gate is called, which silence it makes, and what passes it all the same."""

from collections.abc import Mapping

from schemas.messages.decisions import Decided, Gate

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
