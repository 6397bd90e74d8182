"""List the flips: decisions at which the challenger would take another arm, worst first.

A flip away from an answer that went well, or to an arm that was tried and went badly, is a
regression; the reverse is an improvement. Where neither was observed it is unobserved, and
where the challenger's arm had no propensity it is unsupported. A strategy that draws among
arms flips with a probability, and each flip counts as much.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum

from evaluation.compare.document import (
    ArmClass,
    Choice,
    Flip,
    GatePart,
    Logged,
    MatrixCell,
    Status,
    Whose,
)
from evaluation.compare.rows import BASELINE, flip_share
from evaluation.ope.rows import SUM_TOLERANCE
from replay.open_loop.asked import LoggedDecision
from replay.recording.outcomes import UNKNOWN, Outcome
from schemas.messages.arms import SILENT
from schemas.messages.decisions import Gate
from schemas.ports.decision_context import Odds
from schemas.values.base import rfc3339

FLIP_LIMIT = 10_000
"""Flips that a document lists at most, so that it stays readable; all are counted."""

_NEUTRAL = 0.5
"""The outcome above which a decision went well, and below which badly."""

_ORDER: tuple[Status, ...] = ("regressed", "improved", "unobserved", "unsupported")


def arm_class(arm: str) -> ArmClass:
    """Return the class of an arm, from the part of its name before the colon."""
    head = arm.partition(":")[0]
    match head:
        case "silent" | "heuristic" | "race":
            return head
        case _:
            return "llm"


def matrix(
    decisions: Sequence[LoggedDecision], challenger: int
) -> tuple[MatrixCell, ...]:
    """Return how often each class of arm is replaced by each, in expected decisions.

    Baseline and challenger are coupled so that they agree as often as possible: common
    probability stays on its arm, and the rest is paired in proportion.
    """
    counts: defaultdict[tuple[ArmClass, ArmClass], float] = defaultdict(float)
    flipped: defaultdict[tuple[ArmClass, ArmClass], float] = defaultdict(float)
    for each in decisions:
        ours, theirs = dict(each.odds[BASELINE].arms), dict(each.odds[challenger].arms)
        for arm, odds in ours.items():
            counts[arm_class(arm), arm_class(arm)] += min(odds, theirs.get(arm, 0.0))
        for first, second, share in _met(ours, theirs):
            counts[arm_class(first), arm_class(second)] += share
            flipped[arm_class(first), arm_class(second)] += share
    return tuple(
        MatrixCell(
            baseline=pair[0],
            challenger=pair[1],
            count=whole_of([counts[pair]]),
            flips=whole_of([flipped[pair]]),
        )
        for pair in sorted(counts)
        if counts[pair] > SUM_TOLERANCE
    )


def _met(
    ours: Mapping[str, float], theirs: Mapping[str, float]
) -> Iterator[tuple[str, str, float]]:
    """Yield pairs of different arms and the probability of each, under that coupling."""
    lost = {arm: odds - theirs.get(arm, 0.0) for arm, odds in ours.items()}
    gained = {arm: odds - ours.get(arm, 0.0) for arm, odds in theirs.items()}
    total = sum(change for change in gained.values() if change > 0.0)
    for first, loss in lost.items():
        for second, gain in gained.items():
            if loss > 0.0 and gain > SUM_TOLERANCE:
                yield first, second, loss * gain / total


def whole_of(shares: Iterable[float]) -> float:
    """Return the sum of shares to six decimals, as an integer if it is whole.

    Certain flips then count as whole numbers in documents, for all rounding of shares.
    """
    rounded = round(fsum(shares), 6)
    return int(rounded) if rounded == int(rounded) else rounded


def flips(
    decisions: Sequence[LoggedDecision],
    challenger: int,
    outcomes: Mapping[str, Outcome],
    model_texts: Mapping[str, str],
    names: Mapping[str, str],
) -> tuple[Flip, ...]:
    """Return every decision at which the two may take different arms, worst first.

    Args:
        decisions: those that reached a strategy.
        challenger: the index of its odds.
        outcomes: what each came to, by decision id.
        model_texts: what the model says for the challenger, as far as known.
        names: what heuristics are called, by id.
    """
    found = [
        _flip(
            each, challenger, outcomes.get(each.record.id, UNKNOWN), model_texts, names
        )
        for each in decisions
        if flip_share(each.odds[BASELINE], each.odds[challenger]) > SUM_TOLERANCE
    ]
    return tuple(sorted(found, key=order))


def _sides(ours: Odds, theirs: Odds) -> tuple[str, str]:
    """Return each side's arm where the two differ most in probability."""
    if ours.greedy != theirs.greedy:
        return ours.greedy, theirs.greedy
    mine, others = dict(ours.arms), dict(theirs.arms)
    changes = {
        arm: others.get(arm, 0.0) - mine.get(arm, 0.0)
        for arm in sorted({*mine, *others})
    }
    return min(changes, key=changes.__getitem__), max(changes, key=changes.__getitem__)


def order(flip: Flip) -> tuple[int, str, int]:
    """Return the sorting key: worst first, then by session and place."""
    return _ORDER.index(flip.status), flip.session, flip.sequence


def _flip(
    decision: LoggedDecision,
    challenger: int,
    outcome: Outcome,
    model_texts: Mapping[str, str],
    names: Mapping[str, str],
) -> Flip:
    both = decision.odds[BASELINE], decision.odds[challenger]
    ours, theirs = _sides(*both)
    likely = decision.logging.get(theirs, 0.0)
    return Flip(
        decision=decision.record.id,
        session=decision.session,
        sequence=decision.record.sequence,
        at=rfc3339(decision.record.at),
        source=decision.decided.source,
        type=decision.decided.type,
        text=decision.record.text,
        baseline=_choice(decision, ours, {}, names),
        challenger=_choice(decision, theirs, model_texts, names),
        logged=Logged(
            arm=decision.decided.arm,
            probability=decision.decided.probability,
            challenger_probability=likely,
        ),
        outcome=outcome.value,
        outcome_from=outcome.source if outcome.value is not None else None,
        status=_status(decision, ours, theirs, outcome),
        explanation=(
            *(_gate("baseline", gate) for gate in both[0].gates),
            *(_gate("challenger", gate) for gate in both[1].gates),
        ),
        share=whole_of([flip_share(*both)]),
        outcome_of=_whose(decision.decided.arm, ours, theirs),
    )


def _whose(input_: str, ours: str, theirs: str) -> Whose | None:
    if input_ == theirs:
        return "challenger"
    return "baseline" if input_ == ours else None


def _status(
    decision: LoggedDecision, ours: str, theirs: str, outcome: Outcome
) -> Status:
    value = outcome.value
    # The stated value of silence is an assumption and no observation.
    if value is not None and value != _NEUTRAL and outcome.source != "silence":
        went_well = value > _NEUTRAL
        # The challenger's arm was explored here, so its outcome was really observed.
        if decision.decided.arm == theirs:
            return "improved" if went_well else "regressed"
        # What followed a silence says nothing about what speaking would have led to.
        if decision.decided.arm == ours != SILENT:
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
    # Whichever side the arm belongs to, these words were really said.
    elif arm == decision.decided.arm:
        text = decision.record.said
    elif kind == "heuristic":
        text = _heuristic_text(decision, arm)
    else:
        text = model_texts.get(decision.record.id)
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


def _gate(whose: Whose, gate: Gate) -> GatePart:
    return GatePart(
        whose=whose,
        gate=gate.name,
        passed=gate.passed,
        value=gate.value,
        threshold=gate.threshold,
        margin=gate.margin,
    )
