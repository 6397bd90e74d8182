"""Flips: the decisions that the challenger makes otherwise, the worst first.

A flip away from an answer that went well, or to an arm that was tried and went badly, is a
regression; the other way round it is an improvement. Where neither was seen it is
unobserved, and where the challenger's arm could not have been taken it is unsupported.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from replay.comparing.document import (
    ArmClass,
    Choice,
    Flip,
    GatePart,
    Logged,
    MatrixCell,
    Status,
)
from replay.comparing.rows import BASELINE
from replay.logged import LoggedDecision
from replay.outcomes import UNKNOWN, Outcome
from schemas.decisions import SILENT, Gate
from schemas.message import rfc3339

FLIP_LIMIT = 10_000
"""How many flips a document lists; all are counted."""

NEUTRAL = 0.5
"""Above it an outcome went well, below it badly."""

_ORDER: tuple[Status, ...] = ("regressed", "improved", "unobserved", "unsupported")


def arm_class(arm: str) -> ArmClass:
    """Which sort of arm it is."""
    head = arm.partition(":")[0]
    match head:
        case "silent" | "heuristic" | "race":
            return head
        case _:
            return "llm"


def matrix(
    decisions: Sequence[LoggedDecision], challenger: int
) -> tuple[MatrixCell, ...]:
    """How often which class of arm meets which, by the arms each side holds best."""
    counts = Counter(
        (
            arm_class(each.odds[BASELINE].greedy),
            arm_class(each.odds[challenger].greedy),
        )
        for each in decisions
    )
    return tuple(
        MatrixCell(baseline=first, challenger=second, count=counts[first, second])
        for first, second in sorted(counts)
    )


def flips(
    decisions: Sequence[LoggedDecision],
    challenger: int,
    outcomes: Mapping[str, Outcome],
    model_texts: Mapping[str, str],
    names: Mapping[str, str],
) -> tuple[Flip, ...]:
    """Every decision in which the two hold different arms best, the worst first.

    Args:
        decisions: those that reached a strategy.
        challenger: the index of its odds.
        outcomes: what each came to, by decision id.
        model_texts: what the model says for the challenger, as far as known.
        names: what heuristics are called, by id.
    """
    found = [
        _flip(
            each,
            challenger,
            outcomes.get(each.decision_id, UNKNOWN),
            model_texts,
            names,
        )
        for each in decisions
        if each.odds[BASELINE].greedy != each.odds[challenger].greedy
    ]
    return tuple(sorted(found, key=order))


def order(flip: Flip) -> tuple[int, str, int]:
    """The worst first, then by session and place."""
    return _ORDER.index(flip.status), flip.session, flip.sequence


def _flip(
    decision: LoggedDecision,
    challenger: int,
    outcome: Outcome,
    model_texts: Mapping[str, str],
    names: Mapping[str, str],
) -> Flip:
    ours, theirs = decision.odds[BASELINE], decision.odds[challenger]
    likely = decision.logging.get(theirs.greedy, 0.0)
    return Flip(
        decision=decision.decision_id,
        session=decision.session,
        sequence=decision.sequence,
        at=rfc3339(datetime.fromtimestamp(decision.at_ns / 1e9, UTC)),
        source=decision.source,
        type=decision.type,
        text=decision.text,
        baseline=_choice(decision, ours.greedy, {}, names),
        challenger=_choice(decision, theirs.greedy, model_texts, names),
        logged=Logged(
            arm=decision.arm,
            probability=decision.propensity,
            challenger_probability=likely,
        ),
        outcome=outcome.value,
        outcome_from=outcome.source if outcome.value is not None else None,
        status=_status(decision, ours.greedy, theirs.greedy, outcome),
        explanation=(
            *(_gate("baseline", gate) for gate in ours.gates),
            *(_gate("challenger", gate) for gate in theirs.gates),
        ),
    )


def _status(
    decision: LoggedDecision, ours: str, theirs: str, outcome: Outcome
) -> Status:
    value = outcome.value
    if value is not None and value != NEUTRAL and outcome.source != "silence":
        went_well = value > NEUTRAL
        if decision.arm == theirs:
            return "improved" if went_well else "regressed"
        # What came of saying nothing tells nothing of saying something.
        if decision.arm == ours != SILENT:
            return "regressed" if went_well else "improved"
    likely = decision.logging.get(theirs, 0.0)
    return "unobserved" if likely > 0.0 else "unsupported"


def _choice(
    decision: LoggedDecision,
    arm: str,
    model_texts: Mapping[str, str],
    names: Mapping[str, str],
) -> Choice:
    kind = arm_class(arm)
    text: str | None
    if arm == SILENT:
        text = None
    elif arm == decision.arm:
        text = decision.said
    elif kind == "heuristic":
        text = _heuristic_text(decision, arm)
    else:
        text = model_texts.get(decision.decision_id)
    return Choice(
        arm=arm,
        arm_class=kind,
        name=names.get(arm.partition(":")[2].rpartition("@")[0]),
        text=text,
        content_unknown=text is None and arm != SILENT,
    )


def _heuristic_text(decision: LoggedDecision, arm: str) -> str | None:
    candidates = decision.context.candidates if decision.context else ()
    return next((each.suggested_action for each in candidates if each.arm == arm), None)


def _gate(whose: str, gate: Gate) -> GatePart:
    return GatePart(
        whose="baseline" if whose == "baseline" else "challenger",
        gate=gate.name,
        passed=gate.passed,
        value=gate.value,
        threshold=gate.threshold,
        margin=gate.margin,
    )
