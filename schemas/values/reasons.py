"""The closed lists: kinds of messages, and why one is silent, dropped or refused.

Each is part of a recorded fact. New ones may be added at the end of a list, none may
change its meaning.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple, cast, get_args

Path = Literal[
    "heuristic",
    "llm",
    "fallback",
    "rejected",
    "none",
    "acknowledged",
    "proactive",
    "reflex",
    "queue",
    "autonomous",
]
"""How a decision came about; `none` when a gate closed before the strategy ran,
`acknowledged` when a person asked for a change of behaviour and is told what became of
it, `proactive` when a timer was due and no event is answered, `reflex` when a character acts
by its table of reflexes, `queue` when it works off its plan, `autonomous` when one acts at
random or by routine."""

Origin = Literal["skill_pack", "learned", "seeded"]
"""Where a heuristic is from: a pack, a model's answer that was liked, or a person."""

Timing = Literal["immediate", "queued", "batched", "deferred", "asked"]
"""`asked`: a person is asked first whether it may be done."""

ResponseType = Literal[
    "alert", "observation", "suggestion", "question", "quip", "check_in"
]

Hearing = Literal["overheard", "away", "nobody_there", "asleep", "engaged"]
"""Why an answer is not simply said aloud: it is hidden from somebody there, whom it concerns
is away, the house is empty, somebody sleeps, or is busy."""

Output = Literal["speech", "text", "action", "silent"]
"""By which medium a response is given; `silent`: by none, it is only recorded."""

Silence = Literal[
    "below_relevance",
    "habituated",
    "suppressed",
    "cooldown",
    "rate",
    "quiet",
    "quiet_hours",
    "muted",
    "informational",
    "not_immediate",
    "no_candidate",
    "low_confidence",
    "llm_unavailable",
    "budget_exhausted",
    "safety",
    "personality_veto",
    "strategy_silent",
    "error",
    "learned_silence",
    "busy",
    "recently_quipped",
    "dead",
    "player_controlled",
    "locked",
    "asleep",
    "nothing_due",
    "own_echo",
    "already_said",
]

Passer = Literal["threat", "own_words", "asker", "urgent", "trusted", "watched"]
"""What a gate may let through though it is closed: a threat of 0.8 or more, or an alert; what
a person says themselves; what that person says who asked for the gate; what has an urgency
of 0.7 or more; what a trusted heuristic matches and nobody says what it is worth; what
somebody asked to be told of."""

THREAT_ALWAYS_PASSES = 0.8
"""From which on a threat does."""


class _Gate(NamedTuple):
    """What is declared of a gate: the mind, explanations and docs read it here."""

    told: str
    """Why nothing is said if it is closed."""
    passers: tuple[Passer, ...] | None = None
    """Who passes all the same; None: it does not keep the companion from being too much."""
    is_news: bool = False
    """Whether what it closes on was news all the same: the reason is the event's own, and
    not of the moment."""
    silence: Silence | None = None
    """The reason that it gives, if that is not its name."""
    value: str = ""
    """What its value is, in words; empty: its name."""
    in_seconds: bool = False
    """Whether its numbers are seconds."""
    ended_by: str = ""
    """The command that ends what it is closed by."""


_TOO_MUCH: tuple[Passer, ...] = ("threat", "own_words")
_TOO_SOON: tuple[Passer, ...] = (*_TOO_MUCH, "urgent")
_WORTH: tuple[Passer, ...] = (*_TOO_MUCH, "watched", "trusted")

GATES: Mapping[str, _Gate] = {
    "muted": _Gate("it is muted", (), ended_by="echoic mute off"),
    "quiet": _Gate(
        "quiet was asked for", ("threat", "asker"), ended_by="echoic quiet off"
    ),
    "quiet_hours": _Gate("these are quiet hours", _TOO_MUCH),
    "suppressed": _Gate(
        "such events are suppressed", _TOO_MUCH, ended_by="echoic salience clear ID"
    ),
    "intent": _Gate(
        "the event only informs", ("watched",), is_news=True, silence="informational"
    ),
    "relevance": _Gate(
        "it did not matter enough",
        _WORTH,
        is_news=True,
        silence="below_relevance",
        value="relevance",
    ),
    "habituation": _Gate(
        "such events have come too often lately",
        _WORTH,
        is_news=True,
        silence="habituated",
        value="relevance after habituation",
    ),
    "already_said": _Gate(
        "it was said already, and stands as it did",
        ("own_words", "watched"),
        is_news=True,
        value="time since it was said",
        in_seconds=True,
    ),
    "cooldown": _Gate(
        "it spoke too recently",
        _TOO_SOON,
        value="time since the last response",
        in_seconds=True,
    ),
    "heuristic_cooldown": _Gate(
        "it spoke too recently",
        _TOO_SOON,
        silence="cooldown",
        value="time since that heuristic answered",
        in_seconds=True,
    ),
    "rate": _Gate(
        "it has said enough for now", _TOO_SOON, value="responses left in the hour"
    ),
    "busy": _Gate("the person was busy", _TOO_MUCH),
    "quip": _Gate(
        "it made a quip not long ago",
        _TOO_MUCH,
        silence="recently_quipped",
        value="time since the last quip",
        in_seconds=True,
    ),
    "confidence": _Gate(
        "nothing learnt is trusted enough", is_news=True, silence="low_confidence"
    ),
    "budget": _Gate(
        "the budget for models is used up",
        is_news=True,
        silence="budget_exhausted",
        value="what is left of the budget",
    ),
}
"""Each gate that closes a mouth, in the order in which they are tried; one that a test
beside makes is declared by a row here and nowhere else."""


def silence_of(gate: str) -> Silence:
    """Return the reason that a gate gives for a silence when it closes."""
    declared = GATES.get(gate)
    # A gate that gives no other reason has the name of one.
    return (declared.silence if declared else None) or cast(Silence, gate)


_NOTES: Mapping[Passer, str] = {
    "threat": "a threat always passes",
    "own_words": "a person's words always pass",
    "asker": "a person's words always pass",
    "urgent": "what is urgent passes",
    "trusted": "a trusted heuristic matches it",
    "watched": "somebody asked to be told of it",
}


def passing(gate: str, shown: tuple[Passer, ...]) -> str | None:
    """Return the note of a gate that lets through what shows these; None if it does not."""
    passers = GATES[gate].passers or ()
    return next((_NOTES[each] for each in shown if each in passers), None)


Absence = Literal["dead", "player_controlled", "locked", "asleep"]
"""Why a character does not decide."""

Verdict = Literal[
    "acts",
    "nothing_due",
    "goes_on",
    "matters_less",
    "uninterruptible",
    "not_asked",
    "held_back",
]
"""What a layer of a character came to."""

Drop = Literal[
    "stale",
    "superseded",
    "batched",
    "muted",
    "busy",
    "llm_no_response",
    "llm_timeout",
    "llm_declined",
    "cancelled",
    "error",
    "interrupted",
    "quiet",
    "cooldown",
    "llm_malformed",
]

HELD_BACK: frozenset[str] = frozenset(
    (
        *(silence_of(name) for name in GATES if not GATES[name].is_news),
        *get_args(Absence),
    )
)
"""Reasons of the moment, none of the event: it was news to nobody, and stays new."""

Handling = Literal["duplicate", "late", "second", "unknown", "nothing_due", "recorded"]

Quarantine = Literal[
    "bad_subject",
    "reserved_agent",
    "not_utf8",
    "not_json",
    "not_an_object",
    "empty",
    "too_large",
    "invalid",
    "unknown_type",
    "clock",
    "error",
    "rate",
]

Refusal = Literal[
    "not_built",  # only in logs of before: each control that has a name is built
    "unknown_decision",
    "unknown_heuristic",
    "unknown_strategy",
    "unknown_pack",
    "no_session",
    "invalid",
    "unknown_proposal",
    "proposal_exists",
    "already_applied",
    "not_applied",
    "newer_applied",
    "experiment_running",
    "no_experiment",
    "asleep",
    "outdated",
    "unknown_modulation",
    "unknown_template",
    "unknown_skill",
    "unknown_fact",
    "unknown_reminder",
    "unfit",
    "not_granted",
    "duplicate",
]

NotFormed = Literal[
    "unreadable",
    "type",
    "condition_length",
    "message_length",
    "when_false",
    "not_embedded",
    "vote_withdrawn",
    "model_failed",
    "model_timeout",
    "crowded",
    "known",
]
"""Why a model's good answer became no heuristic."""

Outcome = Literal["success", "fail", "timeout", "overridden", "cancelled", "unknown"]
"""How a fire ended; only `success` and `fail` move confidence."""

ReportedOutcome = Literal["succeeded", "failed", "overridden", "cancelled"]
"""How a deed ended, as it is told at every door; a fire then ends as an `Outcome`."""


def reported(told: object) -> object:
    """Return an outcome by the name that it is told by; what is none as it is."""
    same = {"success": "succeeded", "fail": "failed", "failure": "failed"}
    return same.get(told, told) if isinstance(told, str) else told


Lifecycle = Literal["active", "deprecated", "frozen"]

NO_ROWS = "no_rows"
"""The quarantine's reason for an input whose rows could not be made."""
