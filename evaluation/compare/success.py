"""The success part of a comparison: estimates, and how they depend on assumptions.

The estimate is repeated under other values of silence and of unknown outcomes, and without
each session: a verdict that depends on one of these has to say so.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from statistics import fmean

from evaluation.compare.charts import DecisionWeight, WeightBin, WeightsPart
from evaluation.compare.document import Breakdown, Headline, Sensitivity
from evaluation.compare.flips import whole_of
from evaluation.compare.rows import BASELINE, flip_share, observations
from evaluation.ope.estimate import estimate
from evaluation.ope.results import DifferenceEstimate, Estimate, PolicyEstimate
from evaluation.ope.rows import SUM_TOLERANCE, Observation, ObservationError
from evaluation.ope.settings import EstimationSettings, SelfReplay
from evaluation.ope.verdicts import WITHHELD, Reason, Verdict
from replay.open_loop.asked import LoggedDecision
from replay.recording.outcomes import SILENCE_VALUES, UNKNOWN, Outcome

_QUICK = 500
"""Bootstrap resamples of the estimates shown beside the main one: a quarter, since there
may be hundreds of them and only their verdicts are compared."""

_HISTOGRAM_EDGES = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, float("inf"))
_TOP_WEIGHTS = 10
"""Largest weights listed with their decisions."""

_LEFT_OUT_LIMIT = 200
"""Sessions up to which each is left out once. Every one takes an estimate of its own, and
of more than these none decides alone."""

_LEAST_SEEN = 30
"""Flip observations from which a part's difference is shown, as the gate asks of all."""

_Outcomes = Mapping[str, Outcome]
_Change = Callable[[Outcome], Outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The input of all estimates of one challenger."""

    decisions: Sequence[LoggedDecision]
    challenger: int
    outcomes: _Outcomes
    self_replay: SelfReplay
    cassette_hit_rate: float | None = None
    others: tuple[float | None, ...] = ()
    """The p-values of the other challengers, for which every verdict is corrected."""

    def rows(self, outcomes: _Outcomes | None = None) -> list[Observation]:
        """Return the estimator's rows, with these outcomes in place of the recorded ones."""
        return observations(self.decisions, self.challenger, outcomes or self.outcomes)

    def estimate(
        self, rows: Sequence[Observation], settings: EstimationSettings
    ) -> Estimate:
        """Return the estimate over some rows, or an empty one if there are none.

        Raises:
            ObservationError: a row cannot be true, though the recording replays soundly.
        """
        if not rows:
            return _nothing(self.self_replay)
        try:
            return estimate(
                rows,
                settings,
                self_replay=self.self_replay,
                cassette_hit_rate=self.cassette_hit_rate,
                others=self.others,
            )
        except ObservationError:
            if self.self_replay.is_identical:
                raise
            # The recording is damaged, so impossible rows are its symptom: the verdict is
            # INVALID and names the first divergence, which is more use than this error.
            return _nothing(self.self_replay)


def headline(found: Estimate, evidence: Evidence) -> tuple[Headline, ...]:
    """Return the headline rows on success: observed, estimated, bounded and predicted."""
    target, base = found.target, found.baseline
    ours, theirs = _unless_withheld(base, base.dm), _unless_withheld(target, target.dm)
    return (
        _shared(evidence),
        _one_step(found),
        Headline(
            name="bounds",
            label="success, bounds",
            kind="estimated",
            baseline=None,
            challenger=None,
            delta=None,
            ci=found.difference.bounds,
            note=None,
        ),
        Headline(
            name="predicted",
            label="success, predicted",
            kind="predicted",
            baseline=ours,
            challenger=theirs,
            delta=None if theirs is None or ours is None else theirs - ours,
            note="decides nothing",
            withheld=target.withheld,
        ),
    )


def _nothing(replayed: SelfReplay) -> Estimate:
    """Return an empty estimate, for a recording without decisions or a damaged one."""
    is_damaged = not replayed.is_identical
    reason = (
        Reason("self_replay", f"the recording is damaged: {replayed.divergence}")
        if is_damaged
        else Reason("nothing_asked", "no decision reached a strategy")
    )
    side = PolicyEstimate(
        n=0,
        ess=0.0,
        max_weight=0.0,
        max_weight_share=0.0,
        mean_weight=0.0,
        unsupported_mass=0.0,
        bounds=(0.0, 1.0),
        withheld=True,
    )
    difference = DifferenceEstimate(
        flip_share=0.0,
        flip_observations=0.0,
        bounds=(-1.0, 1.0),
        gates=(),
        verdict=Verdict.INVALID if is_damaged else Verdict.NOT_ENOUGH_OVERLAP,
        reasons=(reason,),
        withheld=True,
    )
    return Estimate(side, side, difference)


def shown_value(side: PolicyEstimate) -> float | None:
    """Return a strategy's doubly robust value; None if its gates withhold it."""
    return _unless_withheld(side, side.dr)


def _unless_withheld(side: PolicyEstimate, value: float | None) -> float | None:
    return None if side.withheld else value


def _one_step(found: Estimate) -> Headline:
    difference = found.difference
    held = difference.withheld
    return Headline(
        name="one_step",
        label="success, one-step",
        kind="estimated",
        baseline=shown_value(found.baseline),
        challenger=None if held else shown_value(found.target),
        delta=None if held else difference.dr,
        ci=None if held else difference.ci,
        extra={} if held else {"snips": difference.snips, "ips": difference.ips},
        note="see the gates" if held else "doubly robust",
        withheld=held,
    )


def sensitivity(
    evidence: Evidence, settings: EstimationSettings
) -> Iterator[Sensitivity]:
    """Yield the same estimate under other values of silence, and of what is unknown."""
    quick = replace(settings, resamples=_QUICK)
    trials = [
        *((f"silence worth {value:g}", _silence(value)) for value in SILENCE_VALUES),
        ("all that is unknown gone badly", _unknown(0.0)),
        ("all that is unknown gone well", _unknown(1.0)),
    ]
    for what, change in trials:
        outcomes = {id_: change(each) for id_, each in evidence.outcomes.items()}
        yield _tried(what, evidence.rows(outcomes), evidence, quick)
    # Filling both sides alike proves little, as it hardly moves a difference: the extremes
    # are failures on the one side with successes on the other.
    if any(each.value is None for each in evidence.outcomes.values()):
        for how, of_target in (("against", 0.0), ("for", 1.0)):
            what = f"all that is unknown gone {how} the challenger"
            yield _tried(what, _opposed(evidence.rows(), of_target), evidence, quick)


def _tried(
    what: str,
    rows: Sequence[Observation],
    evidence: Evidence,
    settings: EstimationSettings,
) -> Sensitivity:
    found = evidence.estimate(rows, settings).difference
    return Sensitivity(
        what=what,
        difference=None if found.withheld else found.dr,
        ci=None if found.withheld else found.ci,
        verdict=str(found.verdict),
        withheld=found.withheld,
    )


def _opposed(rows: Sequence[Observation], of_target: float) -> list[Observation]:
    """Return the rows with unknown rewards filled in, `of_target` for the challenger's arm.

    Elsewhere they get the opposite: the worst (0) or best (1) case for the challenger.
    """
    return [
        row
        if row.reward is not None or row.is_censored
        else replace(
            row,
            reward=of_target
            if row.target.get(row.arm, 0.0) > row.baseline.get(row.arm, 0.0)
            else 1.0 - of_target,
        )
        for row in rows
    ]


def without_each(
    evidence: Evidence,
    rows: Sequence[Observation],
    settings: EstimationSettings,
    verdict: str,
) -> tuple[tuple[str, str], ...] | None:
    """Return the sessions without which the verdict would differ, each with that verdict.

    None if that was not tried: with a single session, more than `_LEFT_OUT_LIMIT` of them,
    or a verdict that shows no value.
    """
    # Sorted, so that the document is the same whatever order recordings were named in.
    sessions = sorted({row.session for row in rows})
    if not 1 < len(sessions) <= _LEFT_OUT_LIMIT or verdict in WITHHELD:
        return None
    quick = replace(settings, resamples=_QUICK)
    others = (
        (session, [row for row in rows if row.session != session])
        for session in sessions
    )
    found = (
        (session, str(evidence.estimate(rest, quick).difference.verdict))
        for session, rest in others
    )
    return tuple((session, other) for session, other in found if other != verdict)


def breakdown(evidence: Evidence, *, withheld: bool) -> tuple[Breakdown, ...]:
    """Return the figures for each source and type of event, most flips first.

    A part's difference is shown from `_LEAST_SEEN` flip observations on, and only if the
    gates show that of the whole: parts must not be a way around them.
    """

    def sort(decision: LoggedDecision) -> str:
        return f"{decision.decided.source}.{decision.decided.type}"

    parts = []
    # `groupby` joins neighbours alone, hence the sort; it is stable, so each part keeps
    # the order of time.
    for name, group in groupby(sorted(evidence.decisions, key=sort), key=sort):
        part = replace(evidence, decisions=list(group))
        seen = sum(_shows_challenger(each, part) for each in part.decisions)
        parts.append(
            Breakdown(
                by="source.type",
                value=name,
                decisions=len(part.decisions),
                flips=whole_of(_flip(each, part.challenger) for each in part.decisions),
                flip_observations=float(seen),
                difference=None
                if withheld or seen < _LEAST_SEEN
                else _difference(part),
            )
        )
    return tuple(sorted(parts, key=lambda part: (-part.flips, part.value)))


def weights(rows: Sequence[Observation]) -> WeightsPart:
    """Return a histogram of the challenger's weights, and the largest of them."""
    found = [
        (row.target.get(row.arm, 0.0) / row.propensity, row.decision) for row in rows
    ]
    bins = [
        WeightBin(
            low=low,
            high=None if high == float("inf") else high,
            count=sum(low <= weight < high for weight, _ in found),
        )
        for low, high in pairwise(_HISTOGRAM_EDGES)
    ]
    top = sorted(found, key=lambda each: (-each[0], each[1] or ""))[:_TOP_WEIGHTS]
    return WeightsPart(
        histogram=tuple(bins),
        top=tuple(DecisionWeight(decision=id_, weight=weight) for weight, id_ in top),
    )


def _shared(evidence: Evidence) -> Headline:
    """Return the mean observed outcome of decisions on which both agree.

    It is no value of either: averaging what both do alike ranks strategies wrongly.
    """
    values = [
        outcome.value
        for each in evidence.decisions
        if _flip(each, evidence.challenger) == 0.0
        # What exploration drew instead is no decision of either.
        and each.decided.arm == each.odds[BASELINE].greedy
        and (outcome := evidence.outcomes.get(each.record.id, UNKNOWN)).value
        is not None
    ]
    mean = fmean(values) if values else None
    return Headline(
        name="shared",
        label="success, shared",
        kind="observed",
        baseline=mean,
        challenger=mean,
        delta=None,
        note=f"{len(values)} agree, no value",
    )


def _difference(part: Evidence) -> float | None:
    """Return the IPS difference of a part, mean((pi - pi') / p Y); it decides nothing."""
    terms = [
        (row.target.get(row.arm, 0.0) - row.baseline.get(row.arm, 0.0))
        / row.propensity
        * row.reward
        for row in part.rows()
        if row.reward is not None
    ]
    return fmean(terms) if terms else None


def _flip(decision: LoggedDecision, challenger: int) -> float:
    return flip_share(decision.odds[BASELINE], decision.odds[challenger])


def _shows_challenger(decision: LoggedDecision, evidence: Evidence) -> bool:
    """Tell whether an arm was taken that the challenger takes more often."""
    ours, theirs = (
        dict(decision.odds[index].arms).get(decision.decided.arm, 0.0)
        for index in (BASELINE, evidence.challenger)
    )
    return theirs - ours > SUM_TOLERANCE


def _silence(value: float) -> _Change:
    return lambda each: replace(each, value=value) if each.source == "silence" else each


def _unknown(value: float) -> _Change:
    def change(each: Outcome) -> Outcome:
        is_unknown = each.value is None and not each.is_censored
        return replace(each, value=value) if is_unknown else each

    return change
