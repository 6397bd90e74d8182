"""Formation: a liked answer of a model becomes a heuristic, or it is said why not."""

from hashlib import sha512
from typing import Any

import pytest
from msgspec.structs import replace

from handlers.mind.flows.form import FORMING_LIMIT, PATIENCE
from projections.folds.pending_answers import MODEL_GRACE
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Decided
from schemas.messages.learning import CandidateRefused, FeedbackApplied, HeuristicFormed
from schemas.messages.notes import Handled
from schemas.messages.results import ClockTicked
from schemas.state.agent import AgentState
from schemas.values.bounded_map import Bounded
from tests import factories
from tests.factories import heuristic, pack
from tests.handlers.mind.forming import (
    CONDITION,
    EVENT,
    GARDEN,
    MESSAGE,
    alive,
    answered,
    formed,
    learnt,
    liked,
    refused,
    rule,
)
from tests.scenario import Scenario, decision_id, names, one, said


def test_a_vote_for_a_model_s_words_asks_for_the_rule() -> None:
    """The ask has a template of its own, tells event and answer, and waits behind all."""
    scenario = alive()

    turn = liked(scenario)

    assert names(turn) == ["FeedbackApplied", "ModelAsked"]
    asked = one(turn, ModelAsked)
    assert (asked.purpose, asked.decision_id) == (
        "formation",
        said(turn, FeedbackApplied)[0].decision_id,
    )
    assert asked.priority < 0
    assert EVENT in asked.prompt
    assert '{\\"health\\":2}' in asked.prompt
    assert "Eat something." in asked.prompt
    assert asked.system != one(scenario.turns[2], ModelAsked).system


def test_a_lesson_that_is_over_asks_no_more() -> None:
    """Though an older generation of lessons still holds what it was."""
    scenario = alive()
    few = AgentState(lessons=Bounded(2))
    scenario.state = replace(
        scenario.state, agents=scenario.state.agents.set(scenario.agent, few)
    )
    first, *_ = [answered(scenario, f"{EVENT} {number}") for number in range(3)]
    votes = []
    for _ in range(3):
        votes.append(scenario.wait(1).feedback(first))
        if said(votes[-1], ModelAsked):
            scenario.fail_model(votes[-1])

    assert [len(said(vote, ModelAsked)) for vote in votes] == [1, 0, 0]


def different(count: int, *, are_long: bool = False) -> str:
    """So many words that do not repeat themselves, of 128 letters if they are long."""
    digests = (sha512(bytes([number])).hexdigest() for number in range(count))
    return " ".join(each if are_long else each[:5] for each in digests)


@pytest.mark.parametrize(
    ("type_", "response"),
    [("suggest", "suggestion"), ("warn", "alert"), ("remind", "observation")],
)
def test_a_rule_becomes_a_heuristic_that_has_all_to_prove(
    type_: str, response: str
) -> None:
    """It says what the model's rule says, starts at .3, and names its decision."""
    scenario = alive()

    turn = formed(scenario, type=type_)

    assert names(turn) == ["Handled", "HeuristicFormed"]
    message = one(turn, HeuristicFormed)
    assert message.response_type == response
    assert (message.confidence, message.origin) == (0.3, "learned")
    assert message.decision_id == decision_id(scenario.turns[2])
    (held,) = learnt(scenario)
    assert (held.heuristic_id, held.condition, held.text, held.when) == (
        message.heuristic_id,
        CONDITION,
        MESSAGE,
        "health <= 3",
    )
    assert (held.confidence, held.origin) == (0.3, "learned")
    assert held.vector == factories.embed(CONDITION)
    assert held.action_vector == factories.embed(MESSAGE)
    assert message.name.startswith("the_health_of_the_player_has_")
    assert len(scenario.mind.forming) == 0
    assert scenario.mind.timers == ()


def test_a_formed_heuristic_is_a_candidate_of_its_domain() -> None:
    """The next event like it meets the heuristic, with its `when`; other domains do not."""
    scenario = alive()
    held = one(formed(scenario), HeuristicFormed)

    near = scenario.wait(60).decide(CONDITION, fields={"health": 2})
    far = scenario.decide(CONDITION, fields={"health": 8})
    elsewhere = scenario.decide(CONDITION, type_="other", source="porch")

    assert [(each.confidence, each.eligible) for each in near.candidates[:1]] == [
        (0.3, True)
    ]
    assert held.heuristic_id in near.candidates[0].arm
    assert "health <= 3 (is 8)" in (far.candidates[0].reason or "")
    assert all("heuristic:" not in each.arm for each in elsewhere.candidates)


@pytest.mark.parametrize("wrapped", ["```json\n{}\n```", "Here is the rule: {} Good?"])
def test_a_rule_may_come_in_a_fence_or_a_sentence(wrapped: str) -> None:
    """Models like to wrap what they are asked for."""
    scenario = alive()
    asked = liked(scenario)

    turn = scenario.answer_model(asked, wrapped.replace("{}", rule()))

    assert names(turn) == ["Handled", "HeuristicFormed"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I do not know.", "unreadable"),
        ("{not json}", "unreadable"),
        ("[1, 2]", "unreadable"),
        ("{}", "type"),
        (rule(type="shout"), "type"),
        (rule(type=3), "type"),
        (rule(condition="too short"), "condition_length"),
        (rule(condition=different(51)), "condition_length"),
        (rule(condition=different(10, are_long=True)), "condition_length"),
        (rule(condition=None), "condition_length"),
        (rule(message="Eat."), "message_length"),
        (rule(message=different(51)), "message_length"),
        (rule(message=different(10, are_long=True)), "message_length"),
        (rule(when="health > 3"), "when_false"),
    ],
)
def test_what_is_no_good_rule_is_refused(text: str, reason: str) -> None:
    """Each fault has its reason; nothing is formed, and nothing waits."""
    scenario = alive()
    asked = liked(scenario)

    turn = scenario.answer_model(asked, text)

    assert names(turn) == ["Handled", "CandidateRefused"]
    assert refused(turn)[0] == reason
    assert learnt(scenario) == []
    assert len(scenario.mind.forming) == 0


@pytest.mark.parametrize(
    ("words", "is_formed"), [(9, False), (10, True), (50, True), (51, False)]
)
def test_condition_and_message_have_ten_to_fifty_words(
    words: int, is_formed: bool
) -> None:
    """Both ends are included."""
    text = " ".join(f"w{each}" for each in range(words))

    for part in ("condition", "message"):
        turn = formed(alive(), **{part: text})
        assert bool(said(turn, HeuristicFormed)) == is_formed


@pytest.mark.parametrize(
    ("when", "why"),
    [
        ("health is low", "cannot be read"),
        ("mana <= 3", "no field 'mana'"),
        ({"health": 3}, "is no text"),
    ],
)
def test_a_test_that_cannot_be_used_is_left_out(when: Any, why: str) -> None:
    """The rule is more general without it; why is recorded."""
    scenario = alive()

    message = one(formed(scenario, when=when), HeuristicFormed)

    assert message.when is None
    assert why in (message.when_left_out or "")


@pytest.mark.parametrize("when", [None, "", 'type = "vital" and source = "game"'])
def test_a_rule_needs_no_test_of_fields(when: str | None) -> None:
    """None is fine, and so is one of the event's type and source."""
    message = one(formed(alive(), when=when), HeuristicFormed)

    assert (message.when, message.when_left_out) == (when or None, None)


def test_a_reminder_keeps_its_time_though_nothing_rings_yet() -> None:
    """It is an observation that records when it was meant; no other type has a time."""
    reminds = one(formed(alive(), type="remind", time="18:00"), HeuristicFormed)
    warns = one(formed(alive(), type="warn", time="18:00"), HeuristicFormed)

    assert (reminds.response_type, reminds.due) == ("observation", "18:00")
    assert warns.due is None


def test_one_answer_is_one_chance() -> None:
    """A second thumbs-up asks nothing, before the rule is there and after it."""
    scenario = alive()
    asked = liked(scenario)
    id_ = said(asked, FeedbackApplied)[0].decision_id or ""

    before = scenario.feedback(id_)
    scenario.answer_model(asked, rule())
    after = scenario.feedback(id_, actor="ben")

    assert names(before) == names(after) == ["FeedbackApplied"]
    assert one(after, FeedbackApplied).heuristic_id is None
    assert len(learnt(scenario)) == 1


def test_a_refused_answer_is_not_asked_about_again() -> None:
    """Not even by another person."""
    scenario = alive()
    asked = liked(scenario)
    scenario.answer_model(asked, "What?")

    again = scenario.feedback(
        one(asked, FeedbackApplied).decision_id or "", actor="ben"
    )

    assert names(again) == ["FeedbackApplied"]


@pytest.mark.parametrize(
    "vote", [{"rating": "negative"}, {"rating": "scaled", "value": 0.0}]
)
def test_only_a_good_word_asks(vote: dict[str, Any]) -> None:
    """No heuristic is made of what nobody liked; a later good word still asks."""
    scenario = alive()
    id_ = answered(scenario)

    turn = scenario.feedback(id_, **vote)
    later = scenario.feedback(id_, rating="scaled", value=0.5)

    assert names(turn) == ["FeedbackApplied"]
    assert names(later) == ["FeedbackApplied", "ModelAsked"]


def test_whoever_takes_the_vote_back_takes_the_heuristic_back() -> None:
    """A vote that turned before the rule came forms nothing; others' do not matter."""
    scenario = alive()
    asked = liked(scenario)
    id_ = one(asked, FeedbackApplied).decision_id or ""
    scenario.feedback(id_, "negative")
    turned = scenario.answer_model(asked, rule())

    asked = scenario.wait(60).feedback(answered(scenario, "another very low health"))
    scenario.feedback(
        one(asked, FeedbackApplied).decision_id or "", "negative", actor="b"
    )
    kept = scenario.answer_model(asked, rule())

    assert refused(turned)[0] == "vote_withdrawn"
    assert names(kept) == ["Handled", "HeuristicFormed"]


def test_nothing_is_asked_where_nothing_may_be_formed() -> None:
    """Not if it is switched off, nor without a model, nor of a heuristic's own words."""
    off = liked(alive(formation=False))
    scenario = alive()
    id_ = answered(scenario)
    scenario.control(factories.mind_started(formation=True), agent="_")
    without = scenario.feedback(id_)
    scenario = alive()
    own = scenario.sense("the sun goes down over the hills", type_="thing")
    own_words = scenario.feedback(own)

    assert names(off) == names(without) == ["FeedbackApplied"]
    assert names(own_words) == ["FeedbackApplied"]
    assert one(own, Decided).path == "heuristic"


def test_a_heuristic_is_credited_for_its_own_words_without_a_model() -> None:
    """A thumbs-up on what a heuristic said counts, whoever could be asked besides."""
    for scenario in (Scenario(GARDEN, relevance=0.0), alive()):
        turn = scenario.sense("the sun goes down over the hills", type_="thing")
        scenario.feedback(turn)

        held = scenario.belief(GARDEN.ids[0], GARDEN.content_hashes[0])
        assert held.confidence == round((1.6 + 0.8) / 2.8, 6)


def test_a_model_that_fails_forms_nothing() -> None:
    """The failure is the reason."""
    scenario = alive()
    asked = liked(scenario)

    turn = scenario.fail_model(asked, "timeout")

    assert refused(turn) == ("model_failed", "timeout: why")


def test_a_model_that_never_answers_is_given_up() -> None:
    """The ask's timer ends it, and what comes later is late."""
    scenario = alive()
    asked = liked(scenario)
    scenario.wait((PATIENCE + MODEL_GRACE).total_seconds())

    ended = scenario.sense("whatever happens next", type_="thing")
    late = scenario.answer_model(asked, rule())

    assert one(ended, CandidateRefused).reason == "model_timeout"
    assert "Decided" in names(ended)
    assert one(late, Handled).reason == "late"
    assert learnt(scenario) == []


def test_a_second_rule_is_one_too_many() -> None:
    """The first answer to each ask counts."""
    scenario = alive()
    asked = liked(scenario)
    scenario.answer_model(asked, rule())

    again = scenario.answer_model(asked, rule())

    assert one(again, Handled).reason == "second"
    assert len(learnt(scenario)) == 1


def test_only_so_many_are_in_the_making() -> None:
    """Beyond the limit the vote counts, and nobody is asked."""
    scenario = alive()
    for number in range(FORMING_LIMIT):
        scenario.wait(1).feedback(answered(scenario, f"event number {number}"))

    turn = scenario.wait(1).feedback(answered(scenario, "one more event"))

    assert names(turn) == ["FeedbackApplied", "CandidateRefused"]
    assert refused(turn)[0] == "crowded"


def test_without_vectors_nothing_is_formed() -> None:
    """What cannot be compared with anything could never be met again."""
    scenario = alive()
    asked = liked(scenario)
    scenario.vectorless = True

    turn = scenario.answer_model(asked, rule())

    assert refused(turn)[0] == "not_embedded"


def test_an_answer_that_was_never_said_teaches_nothing() -> None:
    """A model that came too late said nothing that could be liked."""
    scenario = alive(ttl_s=5.0)
    turn = scenario.sense(EVENT, fields={"health": 2})
    scenario.wait(6).answer_model(turn, "Eat something.")

    assert names(scenario.feedback(turn)) == ["FeedbackApplied"]


def test_what_a_heuristic_said_in_a_race_is_no_lesson() -> None:
    """It answered in the model's place: a vote is for it, and nobody is asked."""
    scenario = alive(
        pack(heuristic("low", CONDITION, MESSAGE)), strategy={"name": "hybrid"}
    )
    turn = scenario.sense(CONDITION)
    scenario.wait(1).tell(ClockTicked(due_at=scenario.at))

    assert one(turn, ModelAsked).rival is not None
    assert names(scenario.feedback(turn)) == ["FeedbackApplied"]


def test_an_answer_of_before_it_was_allowed_is_no_lesson() -> None:
    """What was asked while nothing might be formed was not kept."""
    scenario = alive(formation=False)
    turn = scenario.sense(EVENT)
    allowed = {"formation": True, "relevance": 0.0, "model": factories.MODEL}
    scenario.control(factories.mind_started(**allowed), agent="_")
    scenario.answer_model(turn, "Eat something.")

    assert names(scenario.feedback(turn)) == ["FeedbackApplied"]
