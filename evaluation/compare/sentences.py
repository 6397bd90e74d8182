"""Sentences of a comparison: what is asked, what would change the answer, what to do next."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.compare.document import Sensitivity, StrategyPart
from evaluation.compare.rows import Closed
from evaluation.ope.advising import Advice, advice
from evaluation.ope.recorded import recorded_from
from evaluation.ope.rows import Observation
from evaluation.ope.verdicts import OPPOSED, SEVERAL


def estimand(baseline: StrategyPart, challenger: StrategyPart) -> str:
    """Return what the estimate is an estimate of."""
    return (
        f"What if {challenger.label} had made each single decision, in the situations"
        f" that {baseline.label} created?"
    )


def would_change(
    verdict: str,
    tried: Sequence[Sensitivity],
    left_out: Sequence[tuple[str, str]] | None,
) -> tuple[str, ...]:
    """Return which assumptions and which sessions the verdict hangs on.

    `left_out` names sessions and what the verdict would be without each; None if no
    session was left out to see.
    """
    if verdict == "INVALID":
        return ("Nothing but a recording that its own strategy reproduces.",)
    others = [each for each in tried if each.verdict != verdict]
    if not others and not left_out:
        names = ", ".join(each.what for each in tried)
        any_one = "" if left_out is None else "; and no single session"
        return (f"None of what was tried: {names}{any_one}.",)
    return (
        *(f"With {each.what} it would be {each.verdict}." for each in others),
        *(
            f"Without session {id_} it would be {other}."
            for id_, other in left_out or ()
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What is known of a comparison when its next steps are named."""

    verdict: str
    codes: frozenset[str]
    """Those of the verdict's reasons."""
    rows: Sequence[Observation]
    difference: tuple[float | None, float | None]
    """The measured one and its standard error, as far as shown."""
    closed: Closed | None
    """What the challenger would do that no recording can show, if none decides for it."""
    baseline: StrategyPart
    challenger: StrategyPart

    @property
    def live(self) -> str:
        """The command of a live experiment between the two."""
        return f"`echoic ab start '{self.baseline.label}' '{self.challenger.label}'`"


_CAUSES = 2
"""How many causes of critical occasions are named."""


def next_steps(judged: Judged) -> tuple[str, ...]:
    """Return what to do next, at least one step, with the command where there is one."""
    first = _before_all(judged)
    if first:
        return first
    match judged.verdict:
        case "NOT_ENOUGH_OVERLAP" | "INCONCLUSIVE":
            return _to_decide(judged)
        case _:
            return (_of_a_claim(judged),)


def _before_all(judged: Judged) -> tuple[str, ...]:
    """Return the steps where no recording of this kind would help; empty elsewhere."""
    if judged.verdict == "INVALID":
        return ("find the cause first: `echoic replay verify`",)
    if judged.challenger.has_other_voice:
        return ("try both voices live: `echoic ab start`",)
    if judged.baseline.config_hash == judged.challenger.config_hash:
        return ("these are one and the same: name another to compare with",)
    if judged.closed is not None:
        causes = "; ".join(judged.closed.causes[:_CAUSES])
        return (
            f"no recording decides it: {judged.closed.share:.1%} of what"
            f" {judged.challenger.label} would do"
            " differs at critical occasions, where exploration tries nothing"
            f" ({causes})",
            f"a live experiment tells: {judged.live}",
        )
    if not judged.rows:
        # Characters decide by layers, and exploration draws for strategies alone.
        return (
            "no recording decides it: no decision asked a strategy, as none of a"
            " character's does; the facts are all that can be compared",
        )
    return ()


def _to_decide(judged: Judged) -> tuple[str, ...]:
    if SEVERAL in judged.codes:
        # Sessions that made it the best of several would be counted for it twice.
        return (
            f"compare {judged.challenger.label} alone, with sessions that are recorded"
            " from now on: on those it is one test, and not the best of several",
            f"or play it: {judged.live}",
        )
    found = advice(recorded_from(judged.rows), *judged.difference)
    if found.is_hopeless:
        return ("recording more will not decide it", *_where_flips_fell(judged, found))
    steps = [f"to decide it, record {found.words}"]
    if found.rate is not None:
        steps.append(
            f"challenger exploration at {found.rate:g}: `echoic down`, then"
            f" `ECHOIC_EXPLORATION_RATE={found.rate:g}"
            f" ECHOIC_EXPLORATION_CHALLENGER='{judged.challenger.label}' echoic up`"
        )
    return (*steps, *_where_flips_fell(judged, found))


def _where_flips_fell(judged: Judged, found: Advice) -> tuple[str, ...]:
    """Return what to do where what was learnt makes the two agree; nothing elsewhere."""
    trend = found.trend
    if trend is None:
        return ()
    last = list(dict.fromkeys(row.session for row in judged.rows))[
        -trend.late_sessions :
    ]
    return (
        f"they differed in {trend.early:.3g} decisions a session before, and in"
        f" {trend.late:.3g} in the last {trend.late_sessions}: what is learnt meanwhile"
        " makes them agree",
        f"so judge what is in force now, by the last sessions alone (from {last[0]} on);"
        " or keep what is learnt as it is: `constraints: {locked: true}` in the pack, then"
        f" record; or play it: {judged.live}",
    )


def _of_a_claim(judged: Judged) -> str:
    if OPPOSED in judged.codes:
        return (
            "do not go by this alone: later outcomes speak against it; play it:"
            f" {judged.live}"
        )
    if judged.verdict == "WORSE":
        return (
            f"keep {judged.baseline.label} for single decisions; whole sessions may go"
            f" the other way, which no replay tells: play it: {judged.live}"
        )
    return (
        "how whole sessions would go, and what follows later, no replay tells: play it:"
        f" {judged.live}"
    )
