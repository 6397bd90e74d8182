"""The score: what multiplies what, which of it is recorded, and who is best by it."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.mind.stages import executive
from handlers.mind.strategies.heuristic_first import HeuristicFirst
from handlers.mind.strategies.registry import create_decision_strategy
from handlers.mind.strategies.scoring import Rank, Weights, factors
from handlers.mind.strategies.urgency import Hybrid, Urgency
from schemas.messages.decisions import Factors
from schemas.ports.decision_context import DecisionContext, HeuristicCandidate, Odds
from schemas.state import limits
from schemas.state.evidence import Recent
from schemas.values.settings import StrategySpec
from tests.factories import NOON, candidate, mind_started

LLM = "llm:m@t@s"
KINDS = (HeuristicFirst, Urgency, Hybrid)
TRYING_THE_BEST = (HeuristicFirst, Hybrid)


def ago(seconds: float) -> Any:
    """A time so many seconds before noon."""
    return NOON - timedelta(seconds=seconds)


V1 = candidate(
    "health_v1",
    similarity=1.0,
    confidence=0.7,
    origin="learned",
    recent=Recent(fires=(ago(14 * 86_400),)),
)
V2 = candidate(
    "health_v2",
    similarity=1.0,
    confidence=0.65,
    origin="skill_pack",
    recent=Recent(fires=(ago(600),), succeeded_at=ago(600), succeeded_by="f"),
)


def context(*candidates: HeuristicCandidate, **changes: Any) -> DecisionContext:
    """An occasion at noon."""
    return DecisionContext(
        **{
            "event_id": "e",
            "event_text": "player health is low",
            "event_source": "game",
            "candidates": candidates,
            "urgency": 0.5,
            "now": NOON,
            **changes,
        }
    )


def scores(odds: Odds) -> dict[str, float]:
    """The score of each candidate."""
    return {each.arm.split(":")[1].split("@")[0]: each.score for each in odds.scores}


@pytest.mark.parametrize("kind", KINDS)
def test_health_v1_and_v2(kind: type[HeuristicFirst]) -> None:
    """The base score takes the more trusted one, .70 to .65; the full one .936 to .70."""
    here = context(V1, V2)
    base = kind(rank="similarity_confidence", confidence_threshold=0.6).decide(here)
    full = kind(rank="full", confidence_threshold=0.6).decide(here)

    assert scores(base) == {"health_v1": 0.7, "health_v2": 0.65}
    assert base.greedy == V1.arm
    assert scores(full) == {"health_v1": 0.7, "health_v2": 0.936}
    assert full.greedy == V2.arm


@pytest.mark.parametrize("kind", TRYING_THE_BEST)
def test_similarity_goes_before_confidence(kind: type[HeuristicFirst]) -> None:
    """.9/.3 is tried before .6/.7 by similarity, after it by the product."""
    near, trusted = (
        candidate("near", similarity=0.9, confidence=0.3),
        candidate("trusted", similarity=0.6, confidence=0.7),
    )
    cases: tuple[tuple[Rank, HeuristicCandidate, bool], ...] = (
        ("similarity", near, False),
        ("similarity_confidence", trusted, True),
    )
    for rank, best, passed in cases:
        odds = kind(rank=rank, confidence_threshold=0.6).decide(context(near, trusted))
        assert odds.gates[0].value == best.confidence
        assert odds.gates[0].passed is passed


@pytest.mark.parametrize(
    ("seconds", "recency"), [(-1, 1.0), (0, 1.2), (3_600, 1.2), (3_600.000_001, 1.0)]
)
def test_a_success_is_fresh_for_an_hour(seconds: float, recency: float) -> None:
    """To the microsecond; one that is still to come, after a clock was set, is not."""
    one = candidate("a", recent=Recent(succeeded_at=ago(seconds), succeeded_by="f"))

    assert factors(one, Weights(), NOON).recency == recency


@pytest.mark.parametrize(
    ("fires", "lowered"),
    [
        (0, 1.0),
        (2, 1.0),
        (3, 0.8),
        (4, 0.64),
        (5, 0.512),
        (limits.RECENT_FIRES, 0.043980),
    ],
)
def test_the_fourth_fire_in_five_minutes_is_one_too_many(
    fires: int, lowered: float
) -> None:
    """Three are free; the fourth and each one after it lower the score once more."""
    one = candidate("a", recent=Recent(fires=(ago(300),) * fires))

    assert factors(one, Weights(), NOON).habituation == lowered


def test_what_was_said_longer_ago_is_forgotten() -> None:
    """After five minutes a fire does not count."""
    one = candidate("a", recent=Recent(fires=(ago(300.000_001),) * 9))

    assert factors(one, Weights(), NOON).habituation == 1.0


@pytest.mark.parametrize(
    ("origin", "factor"), [("skill_pack", 1.2), ("learned", 1.0), ("seeded", 0.8)]
)
def test_origin_counts(origin: Any, factor: float) -> None:
    """A pack's advice is worth more than a model's, and that more than a person's."""
    assert factors(candidate("a", origin=origin), Weights(), NOON).origin == factor


def test_nobody_knows_the_past() -> None:
    """Without a time, or of a heuristic whose past was not kept, nothing is recent."""
    unknown = candidate("a", recent=None)

    assert factors(unknown, Weights(), NOON) == Factors(
        recency=1.0, origin=1.0, habituation=1.0
    )
    assert factors(V2, Weights(), None).recency == 1.0


def test_each_factor_can_be_switched_off_and_changed() -> None:
    """A factor of 1 is none; windows and steps are parameters as well."""
    off = {"recency": 1.0, "origin_skill_pack": 1.0, "habituation": 1.0}
    spec = StrategySpec(parameters={"rank": "full", "threshold": 0.6, **off})
    settings = mind_started().settings
    odds = create_decision_strategy(spec, settings).decide(context(V1, V2))

    assert scores(odds) == {"health_v1": 0.7, "health_v2": 0.65}
    strict = Weights(habituation_after=1, habituation_s=700.0, habituation=0.5)
    assert factors(V2, strict, NOON).habituation == 0.5
    assert factors(V2, Weights(recency_s=599.0), NOON).recency == 1.0


def test_only_what_differs_is_part_of_the_configuration() -> None:
    """Ranking by similarity is configured, and known, as ever."""
    config = HeuristicFirst().config

    assert set(config) == {
        "strategy",
        "confidence_threshold",
        "max_candidates",
        "llm_confidence_ceiling",
    }
    changed = HeuristicFirst(rank="full", recency=1.5).config
    assert changed == {**config, "rank": "full", "recency": 1.5}


def test_the_decision_records_each_factor() -> None:
    """Under the full score; under the plain product the score alone, else neither."""
    here = context(V1, V2)
    recorded = {
        rank: executive.choose(
            HeuristicFirst(rank=rank).decide(here), here, lambda _: 0.0
        ).candidates[1]
        for rank in ("similarity", "similarity_confidence", "full")
    }

    assert (recorded["similarity"].score, recorded["similarity"].factors) == (1.0, None)
    plain = recorded["similarity_confidence"]
    assert (plain.score, plain.factors) == (0.65, None)
    assert recorded["full"].score == 0.936
    assert recorded["full"].factors == Factors(recency=1.2, origin=1.2, habituation=1.0)


def test_who_is_not_eligible_is_scored_and_not_taken() -> None:
    """Its score is known, and it does not answer."""
    shut = candidate("a", confidence=0.9, eligible=False, reason="frozen")
    odds = HeuristicFirst(rank="full").decide(context(shut, llm_arm=LLM))

    assert odds.greedy == LLM
    assert scores(odds) == {"a": 0.81}


_seconds = st.floats(0.0, 8_000.0)


@given(
    similarity=st.floats(0.0, 1.0),
    confidence=st.floats(0.0, 1.0),
    fires=st.lists(_seconds, max_size=limits.RECENT_FIRES),
    succeeded=st.none() | _seconds,
)
def test_the_score_is_the_product_of_what_is_recorded(
    similarity: float, confidence: float, fires: list[float], succeeded: float | None
) -> None:
    """Whatever the past, within the last digit; and the same each time."""
    recent = Recent(
        fires=tuple(ago(each) for each in sorted(fires, reverse=True)),
        succeeded_at=None if succeeded is None else ago(succeeded),
    )
    one = candidate("a", similarity, confidence, recent=recent, origin="seeded")
    (scored,) = HeuristicFirst(rank="full").decide(context(one)).scores
    held = scored.factors

    assert held is not None
    product = similarity * confidence * held.recency * held.origin * held.habituation
    assert scored.score == pytest.approx(product, abs=1e-6)
    assert HeuristicFirst(rank="full").decide(context(one)).scores == (scored,)
