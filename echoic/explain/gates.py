"""What each gate is called, which silence it makes and in what words, and what passes it."""

from collections.abc import Mapping

from schemas.messages.decisions import Decided, Gate
from schemas.values.reasons import GATES, Passer, silence_of

UNDELIVERED: Mapping[str, str] = {
    "expired": "it came too late to be delivered",
    "refused": "its channel refused it",
    "other_clock": "the other agent's time is another world's",
}
"""Why a delivery failed, in words."""

REASONS: Mapping[str, str] = {
    **{silence_of(name): GATES[name].told for name in GATES},
    "not_immediate": "nothing learnt answers it, and it is not to wait for a model",
    "no_candidate": "nothing learnt fits",
    "llm_unavailable": "nothing learnt answers it, and no model is configured",
    "safety": "the answer was not safe",
    "personality_veto": "it is not in its character",
    "strategy_silent": "the strategy chose silence",
    "learned_silence": "it learnt that nothing is to be said at such times",
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
    "llm_no_response": "the model gave no answer",
    "llm_timeout": "the model took too long",
    "llm_declined": "the model had nothing to say",
    "llm_malformed": "the model's answer was not in the form asked for",
    "cancelled": "it was cancelled",
    "interrupted": "it was interrupted before it began",
}
"""Why nothing was said, by the reason on record."""

_OF_SALIENCE: Mapping[str, str] = {
    "relevance": "salience",
    "habituation": "salience after habituation",
}
"""Where salience is all that is weighed: else the gate is of relevance."""


def value_of(gate: Gate, decided: Decided) -> str:
    """Return what a gate of a decision holds against its threshold, in words."""
    if decided.relevance is None and gate.name in _OF_SALIENCE:
        return _OF_SALIENCE[gate.name]
    declared = GATES.get(gate.name)
    return (declared.value if declared is not None else "") or gate.name


_OF_PASSERS: Mapping[Passer, str] = {
    "threat": "alerts",
    "own_words": "answers to a person's own words",
    "asker": "answers to the words of whoever asked for it",
    "urgent": "what is urgent",
    "trusted": "what a trusted heuristic matches where no sensor says what it is worth",
    "watched": "what somebody asked to be told of",
}


def passers_of(gate: str) -> str:
    """Return who passes a gate that is closed, in words; empty if nobody does."""
    *others, last = [_OF_PASSERS[each] for each in GATES[gate].passers or ()] or [""]
    return f"{', '.join(others)} and {last}" if others else last


def _told(gate: str) -> str:
    passers, command = passers_of(gate), GATES[gate].ended_by
    until = f" until it ends: `{command}`" if command else ""
    if not passers:
        return f"Nothing passes{until}."
    return f"{passers[0].upper()}{passers[1:]} pass{',' if until else ''}{until}."


PASSES: Mapping[str, str] = {
    # Of what an event is worth its numbers tell.
    **{
        gate: _told(gate)
        for gate, declared in GATES.items()
        if declared.passers is not None and gate not in _OF_SALIENCE
    },
    "budget": "What a trusted heuristic answers passes.",
}
"""What passes a gate that is closed to other things."""
