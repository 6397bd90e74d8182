"""Put together the comparison of one challenger with the baseline, over all recordings.

Values come from the estimator and only behind its gates; facts come from the recording
and from the challenger's closed-loop run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypedDict, TypeVar

from evaluation.compare.behaviour import (
    GONE_ON,
    Act,
    Behaviour,
    act_of,
    behaviour,
    facts,
    quantile,
)
from evaluation.compare.charts import TradeoffPoint
from evaluation.compare.charts_of import calibrated, curves, lanes
from evaluation.compare.closed_loop import ClosedLoopSummary
from evaluation.compare.document import (
    CassettePart,
    Comparison,
    Drift,
    Fact,
    Flip,
    Holm,
    MatrixCell,
)
from evaluation.compare.flips import FLIP_LIMIT, matrix, order, whole_of
from evaluation.compare.overall import Whole
from evaluation.compare.rows import BASELINE, Closed, Critical, closed, flip_share
from evaluation.compare.sayings import Saying, Utterance, uttered
from evaluation.compare.sentences import Judged, estimand, next_steps, would_change
from evaluation.compare.session import SessionResult
from evaluation.compare.success import (
    Evidence,
    breakdown,
    headline,
    sensitivity,
    shown_value,
    weights,
    without_each,
)
from evaluation.compare.words import facts_of_words
from evaluation.ope.gates import Gate
from evaluation.ope.results import DifferenceEstimate, Estimate
from evaluation.ope.settings import SelfReplay
from evaluation.ope.significance import among
from evaluation.ope.verdicts import Reason, Verdict, hangs_on
from schemas.values.exact_math import total
from schemas.values.subjects import AGENT_SOURCE

_Detailed = TypeVar("_Detailed", Gate, Reason)

_HANGS_ON_UNPLAYED = "hangs_on_what_was_never_played"
"""The reason code of a verdict that unsupported mass could overturn."""

_VOICE = Reason(
    "voice_is_another_arm",
    "the same answer in another voice is another arm: what came of the one says"
    " nothing of the other, so there are facts and no value; a live experiment tells"
    " (echoic ab start)",
)
"""Why no recording supports a value of another personality."""


def comparisons_of(whole: Whole) -> tuple[Comparison, ...]:
    """Return the comparison with each challenger, corrected for their number."""
    indices = range(1, len(whole.plan.challengers) + 1)
    every = [_evidence(whole, index) for index in indices]
    settings = whole.wish.estimation
    found = [each.estimate(each.rows(), settings) for each in every]
    p_values = [
        None if part.has_other_voice else each.shown().difference.p_value
        for each, part in zip(found, map(whole.strategy, indices), strict=True)
    ]
    # Before any sentence is made: a claim that is taken back has other sentences.
    return tuple(
        _comparison(whole, replace(each, others=_without(p_values, place)), estimate)
        for place, (each, estimate) in enumerate(zip(every, found, strict=True))
    )


def _without(p_values: Sequence[float | None], place: int) -> tuple[float | None, ...]:
    return (*p_values[:place], *p_values[place + 1 :])


def _comparison(whole: Whole, evidence: Evidence, alone: Estimate) -> Comparison:
    """Return the comparison with one challenger; `alone` is its estimate uncorrected."""
    index, rows = evidence.challenger, evidence.rows()
    settings, challenger = whole.wish.estimation, whole.strategy(index)
    found = alone.among(evidence.others)
    shown = _of_challenger(found.shown())
    # Arms do not name the voice, so the estimator would credit one voice with what came of
    # the other.
    has_values = not challenger.has_other_voice
    if not has_values:
        shown = _without_values(shown)
    verdict, reasons = shown.difference.verdict, shown.difference.reasons
    tried = tuple(sensitivity(evidence, settings))
    left_out = without_each(evidence, rows, settings, verdict)
    difference = found.difference
    return Comparison(
        challenger=challenger,
        verdict=verdict,
        whom=difference.whom.words,
        short_term_only=difference.short_term_only,
        estimand=estimand(whole.strategy(), challenger),
        reasons=reasons,
        next=next_steps(
            Judged(
                verdict=verdict,
                codes=frozenset(each.code for each in reasons),
                rows=rows,
                difference=(difference.dr, difference.se),
                closed=_closed(whole, index, difference, reasons),
                baseline=whole.strategy(),
                challenger=challenger,
            )
        ),
        headline=headline(found, evidence) if has_values else (),
        estimate=shown,
        holm=_holm(shown.difference.p_value, evidence.others),
        sensitivity=tried if has_values else (),
        would_change=would_change(verdict, tried, left_out),
        calibration=calibrated(whole.results),
        curves=curves(whole.results, index),
        timeline=tuple(lanes(each, index) for each in whole.results),
        breakdown=breakdown(evidence, withheld=difference.withheld),
        weights=weights(rows),
        **_of_flips(whole, index),
        **_of_runs(whole, index, found),
    )


def _holm(p: float | None, others: Sequence[float | None]) -> Holm | None:
    adjusted = among(p, others) if others else None
    return None if p is None or adjusted is None else Holm(p=p, adjusted=adjusted)


class _FlipFields(TypedDict):
    matrix: tuple[MatrixCell, ...]
    flips_total: float
    flips: tuple[Flip, ...]
    flip_decisions: int
    flip_counts: dict[str, float]


def _of_flips(whole: Whole, index: int) -> _FlipFields:
    """Return the fields on decisions at which the challenger takes another arm."""
    every = (flip for result in whole.results for flip in result.flips[index - 1])
    flips = tuple(sorted(every, key=order))
    return {
        "matrix": matrix(whole.decisions, index),
        "flips_total": whole_of(flip.share for flip in flips),
        "flips": flips[:FLIP_LIMIT],
        "flip_decisions": len(flips),
        "flip_counts": _by_status(flips),
    }


class _RunFields(TypedDict):
    facts: tuple[Fact, ...]
    drift: Drift
    tradeoff: tuple[TradeoffPoint, ...]
    cassette: CassettePart
    sayings: tuple[Saying, ...]
    sayings_total: int


def _of_runs(whole: Whole, index: int, found: Estimate) -> _RunFields:
    """Return the fields on what both sides did, the challenger in closed loop."""
    runs = _runs(whole, index)
    ours, theirs = _behaviours(whole, runs)
    spoken = [saying for run in runs for saying in run.sayings]
    others = [each for each in spoken if each.is_other]
    drift = Drift(
        decisions=sum(run.compared for run in runs),
        differ=sum(run.drifted for run in runs),
        baseline=_own_drift(whole),
    )
    return {
        "facts": (
            *_agreement(whole, index),
            *facts(ours, theirs, is_heard=_is_heard(whole)),
            *_mixture(whole),
            *_drift(drift),
            *facts_of_words(_recorded(whole), spoken),
        ),
        "drift": drift,
        "tradeoff": _tradeoff(whole, index, ours, theirs, found),
        "cassette": _cassette(runs, whole.plan.answers.mode),
        "sayings": tuple(others[:FLIP_LIMIT]),
        "sayings_total": len(others),
    }


def _recorded(whole: Whole) -> list[Utterance]:
    records = (each for result in whole.results for each in result.recorded.records)
    return [uttered(each) for each in records]


def _of_challenger(estimate: Estimate) -> Estimate:
    """Return the estimate with the word "challenger" for the estimator's "target"."""
    return replace(
        estimate,
        difference=replace(
            estimate.difference,
            gates=tuple(map(_renamed, estimate.difference.gates)),
            reasons=tuple(map(_renamed, estimate.difference.reasons)),
        ),
    )


def _renamed(part: _Detailed) -> _Detailed:
    return replace(part, detail=part.detail.replace("the target", "the challenger"))


def _evidence(whole: Whole, index: int) -> Evidence:
    replayed = whole.self_replay
    first = replayed.divergence
    cassette = _cassette(_runs(whole, index), whole.plan.answers.mode)
    return Evidence(
        decisions=whole.decisions,
        challenger=index,
        outcomes=whole.outcomes,
        self_replay=SelfReplay(
            identical=replayed.identical,
            # Damage may hide how many outputs there were. At least one more than came out
            # the same keeps the gate closed.
            total=replayed.total
            if replayed.is_identical
            else max(replayed.total, replayed.identical + 1),
            divergence=f"input {first.sequence}: {first.what}" if first else None,
        ),
        cassette_hit_rate=cassette.hit_rate,
    )


def _by_status(flips: Sequence[Flip]) -> dict[str, float]:
    statuses = dict.fromkeys(flip.status for flip in flips)
    return {
        status: whole_of(flip.share for flip in flips if flip.status == status)
        for status in statuses
    }


def _closed(
    whole: Whole, index: int, found: DifferenceEstimate, reasons: Sequence[Reason]
) -> Closed | None:
    """Return what no recording can show of the challenger; None unless that decides.

    Exploration leaves critical occasions alone, so more recording would not help there;
    only a live experiment does.
    """
    critical: dict[str, Critical] = {}
    for each in whole.results:
        critical |= each.critical
    part = closed(whole.decisions, index, critical)
    most = whole.wish.estimation.limits.unsupported_mass_max
    # The gate stays closed, however much is recorded.
    if found.verdict == "NOT_ENOUGH_OVERLAP":
        return part if part.share > most else None
    hangs_on_it = any(each.code == _HANGS_ON_UNPLAYED for each in reasons)
    outlasts = found.dr is None or hangs_on(found.dr, part.share, found.margin)
    return part if hangs_on_it and outlasts else None


def _runs(whole: Whole, index: int) -> list[ClosedLoopSummary]:
    return [each.closed_loops[index - 1] for each in whole.results]


def _behaviours(
    whole: Whole, runs: Sequence[ClosedLoopSummary]
) -> tuple[Behaviour, Behaviour]:
    ours = behaviour(act for result in whole.results for act in _own_acts(result))
    return ours, behaviour(act for run in runs for act in run.acts)


def _own_acts(result: SessionResult) -> Iterator[Act]:
    """Yield what the baseline does without exploration, which may be what was recorded."""
    if result.baseline is not None:
        yield from result.baseline.acts
    else:
        yield from map(act_of, result.recorded.records)


def _agreement(whole: Whole, index: int) -> Iterator[Fact]:
    shares = [
        flip_share(each.odds[BASELINE], each.odds[index]) for each in whole.decisions
    ]
    flipped = total(shares)
    yield Fact(
        name="agreement",
        label="agreement",
        kind="fact",
        unit="share",
        baseline=None,
        challenger=1.0 - flipped / len(shares) if shares else None,
        note=f"{flipped:.4g} of {len(shares):,} flip",
    )


def _mixture(whole: Whole) -> Iterator[Fact]:
    """Yield what was recorded with exploration, which is neither side's behaviour."""
    records = [each for result in whole.results for each in result.recorded.records]
    tried = sum(each.decided.is_tried for each in records)
    if tried:
        yield Fact(
            name="mixture",
            label="answers, recorded",
            kind="fact",
            baseline=float(sum(each.said is not None for each in records)),
            challenger=None,
            note=f"by the exploring mixture, which tried another arm in {tried:,}",
        )


def _is_heard(whole: Whole) -> bool:
    """Say whether other agents heard the baseline, and so might have answered otherwise."""
    return any(
        record.decided.source == AGENT_SOURCE
        for result in whole.results
        for record in result.recorded.records
    )


def _drift(drift: Drift) -> Iterator[Fact]:
    if drift.decisions:
        yield Fact(
            name="drift",
            label="state drift",
            kind="fact",
            unit="share",
            baseline=drift.baseline,
            challenger=drift.differ / drift.decisions,
            note=f"{drift.differ:,} of {drift.decisions:,} differ, {GONE_ON}",
        )


def _own_drift(whole: Whole) -> float | None:
    own = [each.baseline for each in whole.results if each.baseline is not None]
    compared = sum(each.compared for each in own)
    return sum(each.drifted for each in own) / compared if compared else None


def _tradeoff(
    whole: Whole, index: int, ours: Behaviour, theirs: Behaviour, found: Estimate
) -> tuple[TradeoffPoint, ...]:
    """Return cost, latency and success of both sides; success None where withheld."""
    sides = (
        (whole.strategy(), ours, shown_value(found.baseline)),
        (whole.strategy(index), theirs, shown_value(found.target)),
    )
    return tuple(
        TradeoffPoint(
            label=part.label,
            cost_usd=acts.cost,
            latency_ms=quantile(acts.latencies_high, 0.95),
            success=success,
            kind="estimated",
        )
        for part, acts, success in sides
    )


def _cassette(runs: Sequence[ClosedLoopSummary], mode: str) -> CassettePart:
    hits = sum(run.hits for run in runs)
    misses = sum(run.misses for run in runs)
    return CassettePart(
        mode=mode,
        hits=hits,
        misses=misses,
        hit_rate=hits / (hits + misses) if hits + misses else None,
    )


def _without_values(estimate: Estimate) -> Estimate:
    """Return an estimate without its values, with another personality as the reason.

    INVALID stays: a damaged recording is the graver reason.
    """
    difference = estimate.difference
    if difference.verdict != Verdict.INVALID:
        difference = replace(
            difference, verdict=Verdict.NOT_ENOUGH_OVERLAP, reasons=(_VOICE,)
        )
    # What was recorded was said in the baseline's own voice, so its value stands.
    return replace(
        estimate,
        target=replace(estimate.target, withheld=True),
        difference=replace(difference, withheld=True),
    ).shown()
