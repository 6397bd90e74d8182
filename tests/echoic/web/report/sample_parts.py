"""The parts of a sample comparison: two strategies, some sessions, their flips."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

from evaluation.compare.charts import (
    CalibrationBin,
    CalibrationPart,
    Curve,
    CurvePart,
    DecisionWeight,
    Timeline,
    TimelineEvent,
    TradeoffPoint,
    WeightBin,
    WeightsPart,
)
from evaluation.compare.document import (
    Breakdown,
    CassettePart,
    Choice,
    Comparison,
    Document,
    Drift,
    Fact,
    Flip,
    GatePart,
    Headline,
    Logged,
    MatrixCell,
    OutcomePart,
    PackPart,
    Provenance,
    SelfReplayPart,
    Sensitivity,
    SessionPart,
    StrategyPart,
    Stretch,
    Whose,
)
from evaluation.ope.gates import Gate, Status
from evaluation.ope.results import DifferenceEstimate, Estimate, PolicyEstimate
from evaluation.ope.settings import EstimationSettings
from evaluation.ope.verdicts import Reason, Verdict

_START = datetime(2026, 11, 14, 19, 2, 11, tzinfo=UTC)

_EVENTS = (
    ("crafter", "vital_changed", "drink fell to 3", "drink-soon",
     "You are thirsty. Find water and drink.",
     "Drink is at 3. There is water to the east: go there and drink."),
    ("crafter", "creature_near", "a zombie, 2 steps to the north", "fight-zombie",
     "Zombie! Face it and strike.",
     "A zombie two steps north. You are at 4 health without a sword: run."),
    ("crafter", "inventory_changed", "wood: 4", "make-wood-pickaxe",
     "That is enough wood. Place a table and make a pickaxe.",
     "Four wood. Place a table and make a pickaxe before it gets dark."),
    ("crafter", "daylight_changed", "it gets dark", "sleep-when-tired",
     "You are tired. Lie down and sleep a while.",
     "Night falls. Wall yourself in with stone, then sleep."),
    ("crafter", "damage_taken", "2 health lost to an arrow", "dodge-arrows",
     "Arrows! Get out of the line of fire.", "Arrows! Step behind the stone to your left."),
    ("kitchen", "oven_done", "the oven timer rang", "oven", "The oven is done.",
     "Your bread is done: take it out, and mind the tray."),
)  # fmt: skip


def document(comparison: Comparison, sessions: int) -> Document:
    command = (
        "echoic replay compare evening-*.echoic --baseline heuristic_first"
        " --challenger thompson --report report.html"
    )
    return Document(
        echoic="0.1.0",
        verdict=comparison.verdict,
        command=command,
        watermark=None,
        baseline=strategy("heuristic_first", "heuristic_first"),
        sessions=tuple(_session(number) for number in range(sessions)),
        frozen="a81e04c2d7f3",
        outcome=OutcomePart(
            prefer="outcomes", window_s=60.0, silence=0.5, unseen=None, known=744,
            unknown=56, censored=9, feedback_rate=0.12,
            by_source={"outcome": 402, "feedback": 61, "silence": 281},
        ),
        self_replay=SelfReplayPart(identical=800, total=800, is_identical=True),
        comparisons=(comparison,),
        provenance=Provenance(
            epochs=("01JD8Z",), ranges=(Stretch(agent="steve", first=1, last=8214),),
            seeds=("7",), embedders=("none",), code="0.1.0", command=command,
            packs=(PackPart(name="survival", version="1.2.0", digest="9c1d77"),),
            estimator=EstimationSettings(),
        ),
    )  # fmt: skip


def comparison(flips: int, sessions: int, status: str | None = None) -> Comparison:
    random = Random(11)
    made = tuple(_flip(random, index, sessions, status) for index in range(flips))
    order = ("regressed", "improved", "unobserved", "unsupported")
    return Comparison(
        challenger=strategy("thompson", "thompson"),
        verdict="BETTER",
        short_term_only=True,
        estimand="What if thompson had made each single decision, in the situations that"
        " heuristic_first created.",
        reasons=(
            Reason("ci_above_zero", "The whole interval lies above zero."),
            Reason("carry_over", "Having spoken changes what comes next (p = .02), so this"
                   " holds for the next decision, not for the long run."),
        ),
        next=("Look at the long run with `echoic ab start heuristic_first thompson"
              " --by session`.",),
        facts=_facts(),
        headline=_headline(),
        estimate=estimate(),
        holm=None,
        sensitivity=_sensitivity(),
        would_change=(
            "A worth of silence over 0.68 would make it inconclusive.",
            "Leaving out session s07 moves the difference to +0.061.",
        ),
        matrix=_matrix(made),
        flips_total=flips,
        flips=tuple(sorted(made, key=lambda flip: order.index(flip.status))),
        drift=Drift(decisions=800, differ=31),
        tradeoff=(
            TradeoffPoint(label="heuristic_first", cost_usd=0.11, latency_ms=310.0,
                          success=0.641, kind="estimated"),
            TradeoffPoint(label="thompson", cost_usd=0.52, latency_ms=1210.0,
                          success=0.716, kind="estimated"),
        ),
        calibration=_calibration(random),
        curves=tuple(_curve(random, event[3]) for event in _EVENTS),
        timeline=tuple(_timeline(random, number) for number in range(min(sessions, 6))),
        breakdown=_breakdown(random),
        weights=WeightsPart(
            histogram=tuple(
                WeightBin(low=low, high=high, count=count)
                for low, high, count in (
                    (0.0, 0.5, 191), (0.5, 1.0, 0), (1.0, 2.0, 560), (2.0, 5.0, 0),
                    (5.0, 10.0, 49), (10.0, 20.0, 0), (20.0, 50.0, 0), (50.0, None, 0),
                )
            ),
            top=tuple(DecisionWeight(decision=f"01k9f{index:04x}", weight=5.0)
                      for index in range(6)),
        ),
        cassette=cassette(307, 13),
    )  # fmt: skip


def strategy(label: str, name: str) -> StrategyPart:
    config = {"strategy": name, "confidence_threshold": 0.7, "max_candidates": 3}
    return StrategyPart(
        label=label, name=name, version=1, config=config, config_hash="3f2a91bc"
    )


def _session(number: int) -> SessionPart:
    began = _START + timedelta(days=number)
    return SessionPart(
        id=f"s{number:02}", agent="steve", title=f"evening {number}", origin="file",
        decisions=40, asked=36, started_at=began.isoformat(),
        ended_at=(began + timedelta(minutes=42)).isoformat(), digest=f"{number:08x}c2d7f3",
    )  # fmt: skip


def _flip(random: Random, index: int, sessions: int, status: str | None) -> Flip:
    source, type_, event, heuristic, short, long = random.choice(_EVENTS)
    taken = Choice(
        arm=f"heuristic:{heuristic}@3f2a1b99", arm_class="heuristic", text=short
    )
    if random.random() < 0.15:
        taken = Choice(arm="silent", arm_class="silent", text=None)
    is_unknown = random.random() < 0.2
    other = Choice(
        arm="llm:llama3.2@c0ffee12@77aa", arm_class="llm",
        text=None if is_unknown else long, content_unknown=is_unknown,
    )  # fmt: skip
    found = (
        status
        or random.choices(
            ("regressed", "improved", "unobserved", "unsupported"), (12, 30, 55, 3)
        )[0]
    )
    seen = found in ("regressed", "improved")
    likely = 0.0 if found == "unsupported" else 0.2
    confidence = round(random.uniform(0.4, 0.9), 3)
    return Flip(
        decision=f"01k9f{index:04x}", session=f"s{index % sessions:02}",
        sequence=17 + 7 * index, at=(_START + timedelta(seconds=40 * index)).isoformat(),
        source=source, type=type_, text=event, baseline=taken, challenger=other,
        logged=Logged(arm=other.arm if seen else taken.arm,
                      probability=likely if seen else 1 - likely,
                      challenger_probability=likely),
        outcome=(1.0 if found == "improved" else 0.0) if seen else None,
        outcome_from="outcome" if seen else None,
        status=found,  # type: ignore[arg-type]  # drawn from the four
        explanation=(
            GatePart(whose="baseline", gate="confidence", passed=confidence >= 0.7,
                     value=confidence, threshold=0.7, margin=round(confidence - 0.7, 3)),
            GatePart(whose="challenger", gate="thompson_draw", passed=False, value=0.412,
                     threshold=0.7, margin=-0.288),
        ),
    )  # fmt: skip


def _facts() -> tuple[Fact, ...]:
    return (
        Fact(name="spoke", label="answers", kind="fact", baseline=728.0, challenger=731.0,
             delta=3.0),
        Fact(name="spoke_rate", label="answer rate", kind="fact", unit="share",
             baseline=0.91, challenger=0.91375, delta=0.00375),
        Fact(name="model_calls", label="model calls", kind="fact", baseline=80.0,
             challenger=320.0, delta=240.0),
        Fact(name="cost_usd", label="model cost", kind="imputed", unit="USD", baseline=0.11,
             challenger=0.52, delta=0.41, low=0.48, high=0.56, note="13 answers imputed"),
        Fact(name="latency_p50", label="latency, median", kind="fact", unit="ms",
             baseline=4.0, challenger=6.2, delta=2.2),
        Fact(name="latency_p95", label="latency, 95th", kind="imputed", unit="ms",
             baseline=310.0, challenger=1210.0, delta=900.0, low=1180.0, high=1240.0,
             note="13 answers imputed"),
    )  # fmt: skip


def _headline() -> tuple[Headline, ...]:
    return (
        Headline(name="shared", label="success, shared", kind="observed", baseline=0.742,
                 challenger=0.742, delta=None,
                 note="560 decisions that both make; no value of either"),
        Headline(name="one_step", label="success, one-step", kind="estimated",
                 baseline=0.641, challenger=0.716, delta=0.075, ci=(0.016, 0.134),
                 extra={"snips": 0.071, "ips": 0.080}, note="doubly robust"),
        Headline(name="bounds", label="success, bounds", kind="estimated", baseline=None,
                 challenger=None, delta=None, ci=(-0.06, 0.21),
                 note="holds whatever was not seen"),
        Headline(name="predicted", label="success, predicted", kind="predicted",
                 baseline=0.66, challenger=0.7, delta=0.04,
                 note="by a model of the outcomes; decides nothing"),
    )  # fmt: skip


def estimate(
    dr: float | None = 0.075,
    ci: tuple[float, float] | None = (0.016, 0.134),
    bounds: tuple[float, float] | None = (-0.06, 0.21),
) -> Estimate:
    gates = (
        gate("self_replay", "ok", 1.0, 1.0, "800/800 outputs identical"),
        gate("propensity_target", "ok", 0.3, 3.0,
              "mean weight 1.010, 0.3 standard errors from what p entails"),
        gate("unsupported_mass", "ok", 0.0, 0.05,
              "0.0% of the target's odds lie on arms that were never played there"),
        gate("flip_observations", "caution", 49.0, 30.0,
              "the challenger\'s choice has 49 known outcomes (need 30)"),
        gate("flip_sessions", "caution", 19.0, 15.0,
              "the challenger\'s choice was tried in 19 sessions (need 15)"),
        gate("ess", "ok", 214.0, 50.0, "worth 214 decisions of equal weight, of 800"),
        gate("max_weight_share", "ok", 0.021, 0.1, "one decision has 2.1% of all weight"),
        gate("pareto_k", "ok", 0.31, 0.7, "shape of the weights' tail 0.31"),
        gate("outcome_coverage", "ok", 0.93, 0.5, "744 of 800 outcomes known"),
        gate("estimators_agree", "ok", 0.94, 0.5, "DR +0.0750, SNIPS +0.0710"),
    )  # fmt: skip
    return Estimate(
        target=_value(0.716, 214.0),
        baseline=_value(0.641, 640.0),
        difference=DifferenceEstimate(
            ips=0.08, snips=0.071, dr=dr, se=0.029, ci=ci, p_value=0.011, flip_share=0.3,
            flip_observations=49.0, bounds=bounds or (-1.0, 1.0), gates=gates,
            verdict=Verdict.BETTER, reasons=(),
        ),
    )  # fmt: skip


def nothing() -> Estimate:
    """An estimate of which every value is held back, and without a gate."""
    found = estimate()
    return Estimate(
        replace(found.target, withheld=True),
        replace(found.baseline, withheld=True),
        replace(found.difference, gates=(), withheld=True),
    ).shown()


def _value(dr: float, ess: float) -> PolicyEstimate:
    return PolicyEstimate(
        n=800, ips=None, snips=None, dr=dr, dm=None, se=None, ci=None, ess=ess,
        max_weight=5.0, max_weight_share=0.021, mean_weight=1.01, unsupported_mass=0.0,
        bounds=(0.0, 1.0),
    )  # fmt: skip


def gate(name: str, status: Status, value: float, limit: float, detail: str) -> Gate:
    return Gate(name=name, status=status, value=value, limit=limit, detail=detail)


def cassette(hits: int, misses: int) -> CassettePart:
    rate = hits / (hits + misses) if hits else None
    return CassettePart(mode="cassette", hits=hits, misses=misses, hit_rate=rate)


def _sensitivity() -> tuple[Sensitivity, ...]:
    rows = (
        ("silence = 0.3", 0.081, (0.019, 0.143), "BETTER"),
        ("silence = 0.5", 0.075, (0.016, 0.134), "BETTER"),
        ("silence = 0.7", 0.058, (-0.004, 0.120), "INCONCLUSIVE"),
        ("unknown = 0", 0.066, (0.009, 0.123), "BETTER"),
        ("unknown = 1", 0.071, (0.011, 0.131), "BETTER"),
    )
    return tuple(
        Sensitivity(what=what, difference=difference, ci=ci, verdict=verdict)
        for what, difference, ci, verdict in rows
    )


def _matrix(flips: tuple[Flip, ...]) -> tuple[MatrixCell, ...]:
    asked = sum(flip.baseline.arm_class == "heuristic" for flip in flips)
    return (
        MatrixCell(baseline="heuristic", challenger="heuristic", count=410),
        MatrixCell(baseline="heuristic", challenger="llm", count=asked),
        MatrixCell(baseline="llm", challenger="llm", count=80),
        MatrixCell(baseline="silent", challenger="llm", count=len(flips) - asked),
        MatrixCell(baseline="silent", challenger="silent", count=70),
    )


def _calibration(random: Random) -> CalibrationPart:
    bins = tuple(
        CalibrationBin(
            low=low / 10,
            high=(low + 1) / 10,
            count=8 + 9 * low,
            predicted=low / 10 + 0.05,
            observed=min(max(low / 10 + 0.05 + random.gauss(0, 0.06), 0.0), 1.0),
        )
        for low in range(2, 10)
    )
    return CalibrationPart(
        answers=300, brier=0.171, skill=0.18, ece=0.044, null_band=(0.036, 0.051),
        bins=bins,
    )  # fmt: skip


def _curve(random: Random, name: str) -> CurvePart:
    curves: dict[Whose, Curve] = {}
    drifts: tuple[tuple[Whose, float], ...] = (("baseline", 0.0), ("challenger", 0.004))
    for side, drift in drifts:
        value = 0.6
        points = []
        for step in range(60):
            value = min(max(value + random.gauss(drift, 0.03), 0.05), 0.97)
            at = _START + timedelta(minutes=9 * step)
            points.append((at.isoformat(), round(value, 4)))
        curves[side] = tuple(points)
    return CurvePart(
        heuristic=f"survival:{name}", name=name, session="s00",
        baseline=curves["baseline"], challenger=curves["challenger"],
    )  # fmt: skip


def _timeline(random: Random, number: int) -> Timeline:
    began = _START + timedelta(days=number)
    events = []
    for _ in range(160):
        began += timedelta(seconds=random.expovariate(1 / 15))
        ours = random.choices(("silent", "heuristic", "llm", "gated"), (30, 45, 8, 17))[
            0
        ]
        theirs = "llm" if ours == "heuristic" and random.random() < 0.3 else ours
        outcome = random.choice((None, None, 0.0, 1.0)) if ours != "gated" else None
        events.append(TimelineEvent(at=began.isoformat(), baseline=ours,
                                    challenger=theirs, outcome=outcome))  # fmt: skip
    return Timeline(session=f"s{number:02}", events=tuple(events))


def _breakdown(random: Random) -> tuple[Breakdown, ...]:
    return tuple(
        Breakdown(
            by="source.type", value=f"{source}.{type_}", decisions=240 - 30 * index,
            flips=90.0 - 14 * index, flip_observations=19.0 - 3 * index,
            difference=None if index == 5 else round(random.uniform(-0.05, 0.14), 3),
        )
        for index, (source, type_, *_) in enumerate(_EVENTS)
    )  # fmt: skip
