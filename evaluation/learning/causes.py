"""Extract from each group the causes that moved a heuristic's confidence, or might have.

Each names the message behind it, so that anyone can look it up in the log.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from projections.folds.learning.heuristics import content_in_force
from replay.recording.in_force import InForce
from replay.recording.recorded_groups import RecordedGroup
from schemas.codec.envelope import Output
from schemas.messages.controls import HeuristicEdited, HeuristicFrozen, HeuristicSeeded
from schemas.messages.decisions import HeuristicFired
from schemas.messages.learning import (
    AdviceIgnored,
    DriftRaised,
    Endorsed,
    FeedbackApplied,
    HeuristicFormed,
    HeuristicReinforced,
    LifecycleChanged,
    OutcomeExpired,
    OutcomeObserved,
    SilenceWeighed,
    TrustChanged,
)
from schemas.messages.notes import ControlApplied
from schemas.messages.sensing import Sensed

CauseKind = Literal[
    "fire",
    "kept",
    "outcome",
    "ignored",
    "expired",
    "vote",
    "endorsement",
    "silence",
    "taught",
    "formed",
    "reinforced",
    "edit",
    "pack",
    "frozen",
    "released",
    "life",
    "drift",
    "trust",
    "settings",
]

BY_SLEEP = "sleep"
"""The author of a heuristic that a sleep proposed, without anybody's vote."""

BY_SILENCE = "silence"
"""The author of a heuristic that says nothing, formed of a person's word on a decision."""

EVIDENCE: frozenset[CauseKind] = frozenset(
    ("outcome", "ignored", "vote", "endorsement", "silence")
)
"""The kinds of causes that are evidence and move confidence by themselves."""

_TOKENS = frozenset(
    message.token
    for message in (
        HeuristicFired,
        OutcomeObserved,
        OutcomeExpired,
        AdviceIgnored,
        FeedbackApplied,
        Endorsed,
        SilenceWeighed,
        HeuristicFormed,
        HeuristicReinforced,
        LifecycleChanged,
        DriftRaised,
        TrustChanged,
        ControlApplied,
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Something that concerns one heuristic."""

    sequence: int
    """The sequence of the input it belongs to."""
    at: datetime
    """The agent's time."""
    heuristic_id: str
    content_hash: str
    """Of the content that is meant: after an edit, the new one."""
    kind: CauseKind
    what: str
    """What it was, in words."""
    by: str = ""
    """Who or what said so: a person, a sensor, a model."""
    id: str
    """Of the message that caused it: an event, a vote, an answer, a control."""
    decision_id: str | None = None


def causes(group: RecordedGroup) -> Iterator[Cause]:
    """Yield the causes in one group, in the order in which they count."""
    for output in group.outputs(_TOKENS):
        cause = _of_output(group, output)
        if cause is not None:
            yield cause
        # The cause is the control itself, the group's input; this output only shows
        # that the mind did not refuse it.
        elif isinstance(output.message, ControlApplied):
            yield from _of_control(group, output)


def _of_output(group: RecordedGroup, output: Output) -> Cause | None:
    message, input_ = output.message, group.input
    match message:
        case HeuristicFired(mode="shown"):
            what = f"shown, like {message.similarity:.2f}"
            return _cause(output, "fire", what, "", message.event_id)
        case HeuristicFired(mode="kept"):
            what = f"kept silent, like {message.similarity:.2f}"
            return _cause(output, "kept", what, "", message.event_id)
        case OutcomeObserved():
            source = input_.message.source if isinstance(input_.message, Sensed) else ""
            return _cause(output, "outcome", _seen(message), source, message.event_id)
        case AdviceIgnored():
            what = f"ignored {message.count} times in a row"
            return _cause(output, "ignored", what, "", input_.id)
        case OutcomeExpired():
            return _cause(output, "expired", "nothing seen in time", "", input_.id)
        # A vote on words that no heuristic said moves no confidence.
        case FeedbackApplied(heuristic_id=str()):
            return _cause(output, "vote", _judged(message), message.actor, input_.id)
        case _:
            return _of_model(group, output)


def _of_model(group: RecordedGroup, output: Output) -> Cause | None:
    message, input_ = output.message, group.input
    match message:
        case Endorsed():
            what = f"said unasked, like {message.similarity:.2f}"
            return _cause(output, "endorsement", what, "model", input_.id)
        case SilenceWeighed():
            by = message.actor or "the world"
            return _cause(output, "silence", _weighed(message), by, input_.id)
        # `HeuristicFormed` has no content hash: what is in force after the group has it.
        case HeuristicFormed(is_silence=True):
            hash_ = _content(group.after, message.heuristic_id)
            what = "formed where nothing should have been said"
            return _cause(output, "formed", what, BY_SILENCE, input_.id, hash_)
        case HeuristicFormed():
            hash_ = _content(group.after, message.heuristic_id)
            if message.proposal_id is not None:
                what = f"formed by the proposal {message.proposal_id}"
                return _cause(output, "formed", what, BY_SLEEP, input_.id, hash_)
            what = "formed of an answer that was liked"
            return _cause(output, "formed", what, "model", input_.id, hash_)
        case HeuristicReinforced():
            what = f"found again, like {message.similarity:.2f}"
            return _cause(output, "reinforced", what, "model", input_.id)
        case LifecycleChanged():
            what = f"{message.before} → {message.after}"
            return _cause(output, "life", what, "", input_.id)
        case DriftRaised():
            what = (
                f"{message.successes} of the last {message.fires} went well,"
                f" {message.expected:.0%} were expected"
            )
            return _cause(output, "drift", what, "", input_.id)
        case TrustChanged():
            what = (
                f"trusted again in {message.domain}"
                if message.is_trusted
                else f"the last trusted one of {message.domain} fell: nothing answers there"
            )
            return _cause(output, "trust", what, "", input_.id)
        case _:
            return None


def _cause(
    output: Output,
    kind: CauseKind,
    what: str,
    by: str,
    id_: str,
    content_hash: str | None = None,
) -> Cause:
    message = output.message
    return Cause(
        sequence=output.mark.cause_sequence,
        at=output.at,
        heuristic_id=getattr(message, "heuristic_id", ""),
        content_hash=content_hash or str(getattr(message, "content_hash", "")),
        kind=kind,
        what=what,
        by=by,
        id=id_,
        decision_id=getattr(message, "decision_id", None),
    )


def _of_control(group: RecordedGroup, output: Output) -> Iterator[Cause]:
    match group.input.message:
        case HeuristicSeeded(heuristic_id=id_):
            yield _controlled(group, output, id_, "taught", "taught")
        case HeuristicEdited(heuristic_id=id_, keep=keep):
            what = "edited, trust kept" if keep else "edited, trust begins anew"
            yield _controlled(group, output, id_, "edit", what)
        case HeuristicFrozen(heuristic_id=id_, frozen=True, reason=reason):
            what = f"frozen by hand: {reason}" if reason else "frozen by hand"
            yield _controlled(group, output, id_, "frozen", what)
        case HeuristicFrozen(heuristic_id=id_):
            yield _controlled(group, output, id_, "released", "released")
        case _:
            yield from _of_packs(group, output)


def _controlled(
    group: RecordedGroup, output: Output, heuristic_id: str, kind: CauseKind, what: str
) -> Cause:
    return Cause(
        sequence=group.sequence,
        at=output.at,
        heuristic_id=heuristic_id,
        content_hash=_content(group.after, heuristic_id),
        kind=kind,
        what=what,
        id=group.input.id,
    )


def _of_packs(group: RecordedGroup, output: Output) -> Iterator[Cause]:
    """Yield the heuristics whose content a pack that was loaded brought or changed."""
    before, after = _of_all_packs(group.before), _of_all_packs(group.after)
    for id_ in sorted(after):
        if before.get(id_) != after[id_]:
            what = "edited by its pack" if id_ in before else "brought by its pack"
            yield _controlled(group, output, id_, "pack", what)


def _of_all_packs(in_force: InForce) -> dict[str, str]:
    return {
        id_: content_hash
        for pack in in_force.packs
        for id_, content_hash in zip(pack.ids, pack.content_hashes, strict=True)
    }


def _content(in_force: InForce, heuristic_id: str) -> str:
    found = content_in_force(in_force.agent, in_force.packs, heuristic_id)
    return found or ""


def _weighed(message: SilenceWeighed) -> str:
    if message.value is None:
        return "an earlier word on silence taken back"
    return "better silent there" if message.value > 0.0 else "better said there"


def _seen(message: OutcomeObserved) -> str:
    reason = f": {message.reason}" if message.reason else ""
    how = f"“{message.pattern}” seen" if message.pattern else _HOW[message.by]
    return f"{message.outcome}, {how}{reason}"


def _judged(message: FeedbackApplied) -> str:
    target = "" if message.decision_id else " on the heuristic itself"
    if message.aspect != "overall":
        target = f" on its {message.aspect}"
    if message.through is not None:
        target = " on the same answer by a model"
    if message.share is not None:
        target = f" on answers said as one, by a share of {message.share:.2f}"
    comment = f": {message.comment}" if message.comment else ""
    return f"vote {message.value:+g}{target}{comment}"


_HOW = {"report": "reported", "pattern": "seen", "undo": "taken back"}
