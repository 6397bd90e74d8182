"""Comparisons as they come: one that is better, one without overlap, one invalid.

Made of the document's own classes, so that a changed contract shows here first.
"""

from dataclasses import replace

from evaluation.compare.charts import WeightsPart
from evaluation.compare.document import (
    Choice,
    Comparison,
    DivergencePart,
    Document,
    Headline,
    Holm,
    PackPart,
    SelfReplayPart,
)
from evaluation.ope.verdicts import Reason
from tests.echoic.web.report import sample_parts as parts

HOSTILE = (
    "</script><img src=x onerror=alert(1)><!-- ' \" & \u202edrowssap\u202c \x00"
    " 🦊👩‍🚀 `code` {{7*7}} " + "long " * 2000
)
"""What a sensor might say: markup, a turned direction, a control, very much of it."""


def better(flips: int = 240, sessions: int = 20) -> Document:
    """A challenger that asks the model more, and is better for it."""
    return parts.document(parts.comparison(flips, sessions), sessions)


def not_enough_overlap() -> Document:
    """The same without exploration: bounds, and how to find out."""
    comparison = parts.comparison(180, 12, status="unsupported")
    estimate = parts.estimate(dr=None, ci=None, bounds=(-0.12, 0.18))
    gates = (
        parts.gate("self_replay", "ok", 1.0, 1.0, "480/480 outputs identical"),
        parts.gate("propensity_target", "ok", 0.4, 3.0, "0.4 standard errors off"),
        parts.gate("flip_observations", "refused", 8.0, 30.0,
              "the challenger\'s choice has 8 known outcomes (need 30)"),
        parts.gate("flip_sessions", "refused", 6.0, 15.0,
              "the challenger\'s choice was tried in 6 sessions (need 15)"),
        parts.gate("ess", "caution", 61.0, 50.0, "worth 61 decisions of equal weight, of 480"),
    )  # fmt: skip
    found = replace(
        comparison,
        verdict="NOT_ENOUGH_OVERLAP",
        short_term_only=False,
        reasons=(Reason("too_few_flip_observations", "8 flip observations, need 30."),),
        next=("Record 12 more sessions with `echoic up --explore challenger"
              " --challenger thompson --rate 0.2`.",),
        headline=(
            Headline(name="shared", label="success, shared", kind="observed",
                     baseline=0.742, challenger=0.742, delta=None,
                     note="300 decisions that both make; no value of either"),
            Headline(name="bounds", label="success, bounds", kind="estimated",
                     baseline=None, challenger=None, delta=None, ci=(-0.12, 0.18),
                     note="holds whatever was not seen"),
        ),
        estimate=replace(estimate, difference=replace(
            estimate.difference, flip_observations=8.0, gates=gates)),
        holm=None,
        sensitivity=(),
        would_change=("22 more flip observations open the gate.",),
        tradeoff=tuple(replace(point, success=None) if point.label == "thompson" else point
                       for point in comparison.tradeoff),
        calibration=None,
    )  # fmt: skip
    return parts.document(found, 12)


def invalid() -> Document:
    """A recording that does not reproduce itself."""
    comparison = parts.comparison(40, 6)
    estimate = parts.estimate(dr=None, ci=None, bounds=None)
    gates = (
        parts.gate("self_replay", "invalid", 0.31, 1.0, "74/240 outputs identical"),
        parts.gate("propensity_baseline", "invalid", 5.2, 3.0,
              "mean weight 1.310, 5.2 standard errors from what p entails:"
              " the logged probabilities cannot be the true ones"),
    )  # fmt: skip
    found = replace(
        comparison, verdict="INVALID", short_term_only=False,
        estimate=replace(estimate, difference=replace(estimate.difference, gates=gates)),
        reasons=(Reason("self_replay_differs",
                        "The recorded strategy does not give what was recorded."),),
        next=("Find out what changed with `echoic replay verify evening.echoic`.",),
        headline=(), holm=None, sensitivity=(), would_change=(), calibration=None,
        curves=(), weights=WeightsPart(), tradeoff=(),
    )  # fmt: skip
    body = (
        '{"event_id":"01k9","path":"heuristic","arm":"heuristic:drink-soon@3f2a1b","p":'
    )
    divergence = DivergencePart(
        session="s03", sequence=112, index=1, what="body",
        recorded=body + '0.85,"greedy_arm":"silent"}',
        replayed=body + '0.933333,"greedy_arm":"silent"}',
    )  # fmt: skip
    broken = SelfReplayPart(
        identical=74,
        total=240,
        is_identical=False,
        divergence=divergence,
        odds_differ=3,
    )
    return replace(parts.document(found, 6), self_replay=broken)


def several() -> Document:
    """Two challengers, answered by a stub: watermarked."""
    first = replace(parts.comparison(60, 6), holm=Holm(p=0.011, adjusted=0.022))
    second = replace(
        parts.comparison(30, 6),
        challenger=parts.strategy("heuristic_first:threshold=0.6", "heuristic_first"),
        verdict="EQUIVALENT",
        estimate=parts.estimate(dr=0.002, ci=(-0.011, 0.015), bounds=(-0.03, 0.05)),
        holm=Holm(p=0.64, adjusted=0.64),
    )
    document = parts.document(first, 6)
    return replace(
        document,
        comparisons=(first, second),
        watermark="stub: the model's answers are made up",
    )


def personality() -> Document:
    """Another voice is another arm: facts only."""
    comparison = parts.comparison(20, 3)
    found = replace(
        comparison, verdict="NOT_ENOUGH_OVERLAP", headline=(), sensitivity=(),
        estimate=parts.nothing(), holm=None, calibration=None, curves=(),
        weights=WeightsPart(), breakdown=(),
        reasons=(Reason("voice_is_another_arm",
                        "Another personality says everything in other words."),),
        next=("Try it live: `echoic ab start warm dry --by session`.",),
    )  # fmt: skip
    return parts.document(found, 3)


def hostile() -> Document:
    """Every text that comes from outside is as bad as can be."""
    document = better(30, 3)
    return replace(
        document,
        comparisons=tuple(map(_hostile, document.comparisons)),
        sessions=tuple(
            replace(each, id=HOSTILE, title=HOSTILE, agent=HOSTILE)
            for each in document.sessions
        ),
        baseline=replace(document.baseline, label=HOSTILE),
        watermark=HOSTILE,
        command=HOSTILE,
        provenance=replace(
            document.provenance,
            packs=(PackPart(name=HOSTILE, version=HOSTILE, digest=HOSTILE),),
        ),
    )


def _hostile(comparison: Comparison) -> Comparison:
    def arm(choice: Choice) -> Choice:
        return replace(choice, text=HOSTILE, arm=HOSTILE)

    flips = (
        replace(
            each, text=HOSTILE, source=HOSTILE, session=HOSTILE,
            baseline=arm(each.baseline), challenger=arm(each.challenger),
        )
        for each in comparison.flips
    )  # fmt: skip
    first, *others = comparison.reasons
    return replace(
        comparison,
        flips=tuple(flips),
        curves=tuple(
            replace(each, name=HOSTILE, heuristic=HOSTILE, session=HOSTILE)
            for each in comparison.curves
        ),
        timeline=tuple(replace(each, session=HOSTILE) for each in comparison.timeline),
        breakdown=tuple(replace(each, value=HOSTILE) for each in comparison.breakdown),
        reasons=(replace(first, detail=HOSTILE), *others),
    )
