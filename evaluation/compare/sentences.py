"""Sentences of a comparison: what is asked, what would change the answer, what to do next."""

from collections.abc import Sequence

from evaluation.compare.document import Sensitivity, StrategyPart
from evaluation.ope.planning import advice, recorded_from
from evaluation.ope.rows import Observation


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


def next_steps(
    verdict: str,
    rows: Sequence[Observation],
    difference: tuple[float | None, float | None],
    *,
    closed: float | None,
    short_term_only: bool,
    baseline: StrategyPart,
    challenger: StrategyPart,
) -> tuple[str, ...]:
    """Return what to do next, with the command where there is one.

    `difference` is the measured one and its standard error, as far as shown. `closed` is
    the share of what the challenger would do that no recording can show, if it is so much
    that none decides.
    """
    steps = []
    if verdict == "INVALID":
        return ("find the cause first: `echoic replay verify`",)
    if challenger.has_other_voice:
        return ("try both voices live: `echoic ab start`",)
    if baseline.config_hash == challenger.config_hash:
        return ("these are one and the same: name another to compare with",)
    live = f"`echoic ab start '{baseline.label}' '{challenger.label}'`"
    if closed is not None:
        return (
            f"no recording decides it: {closed:.1%} of what {challenger.label} would do"
            " differs at critical occasions, where exploration tries nothing",
            f"a live experiment tells: {live}",
        )
    if not rows:
        # Characters decide by layers, and exploration draws for strategies alone.
        return (
            "no recording decides it: no decision asked a strategy, as none of a"
            " character's does; the facts are all that can be compared",
        )
    if verdict in ("NOT_ENOUGH_OVERLAP", "INCONCLUSIVE"):
        steps.append(f"to decide it, record {advice(recorded_from(rows), *difference)}")
        steps.append(
            "challenger exploration at 0.2: `ECHOIC_EXPLORATION_RATE=0.2"
            f" ECHOIC_EXPLORATION_CHALLENGER='{challenger.label}' echoic up`"
        )
    if short_term_only or verdict in ("BETTER", "EQUIVALENT"):
        steps.append(
            "the long run is not identified by a replay, a live experiment tells it:"
            f" {live}"
        )
    return tuple(steps)
