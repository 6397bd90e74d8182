"""Sleep: an agent looks back, and proposes what to change; nothing changes by itself."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from handlers.sleeping import PATIENCE
from handlers.turns import Turn
from projections.folds.waits import MODEL_GRACE
from schemas import checkpoint
from schemas.asks import ModelAsked
from schemas.controls import (
    HeuristicEdited,
    HeuristicSeeded,
    ProposalApplied,
    ProposalReverted,
)
from schemas.controls import SleepRequested as Sleep
from schemas.learning import CandidateRefused, Endorsed, HeuristicFormed, ProposalMade
from schemas.results import ClockTicked, ModelAnswered
from schemas.settings import SleepSettings
from schemas.sleep import Reflected, SleepBegun, SleepEnded, Sleeping
from schemas.subjects import SHARED_AGENT
from tests import factories
from tests.factories import heuristic, pack
from tests.life import Life, applied, decision_id, names, one, refused, said

GARDEN = pack(heuristic("dusk", "the sun goes down over the hills", "Go in.", 0.8))
EVENT, SAID = "health became very low", "Eat what lies near you now."
CONDITION = "the health of the player has become very low while food is near"
MESSAGE = "Your health is very low now so eat what lies near you"


def living(*, sleep: Any = None, **settings: Any) -> Life:
    """A life that remembers what a sleep may look at."""
    how = SleepSettings(**{"events": 4, **(sleep or {})})
    defaults = {"model": factories.MODEL, "relevance": 0.0, "endorsement": True}
    return Life(GARDEN, sleep=how, **{**defaults, "formation": True, **settings})


def rule(**changes: Any) -> str:
    """What a model sends that was asked for a rule."""
    fields = {"condition": CONDITION, "type": "suggest", "message": MESSAGE}
    return orjson.dumps({**fields, **changes}).decode()


def lived(life: Life, text: str = EVENT, answer: str = SAID) -> str:
    """The decision on an event that a model answered."""
    turn = life.wait(60).sense(text, fields={"health": 2})
    life.wait(1).answer_model(turn, answer)
    return decision_id(turn)


def taught(life: Life, name: str, says: str = SAID, **more: Any) -> str:
    """Teach a heuristic of the garden."""
    fields = {"condition": "health is low", "domain": "garden", "confidence": 0.5}
    seeded = HeuristicSeeded.model_validate(
        {"heuristic_id": name, "name": name, "text": says, **fields, **more}
    )
    applied(life.control(seeded))
    return name


def asleep(life: Life) -> Sleeping:
    """The sleep under way."""
    sleeping = life.mind.sleeping
    assert sleeping is not None
    return sleeping


def told(life: Life, turn: Turn, text: str) -> Turn:
    """The model's answer to what a sleep asked."""
    return life.wait(1).answer_model(turn, text)


def state(life: Life) -> bytes:
    """What is known of heuristics, as bytes."""
    mind = life.mind
    kept = life.state.agents.set(
        life.agent,
        type(mind)(shelves=mind.shelves, frozen=mind.frozen, beliefs=mind.beliefs),
    )
    return checkpoint.dump(type(life.state)(agents=kept))


def test_a_sleep_asks_again_about_what_happened_and_shows_nothing_known() -> None:
    """The prompt is that of the day without candidates, and nobody waits for it."""
    life = living(withhold=0.0)
    taught(life, "eat", "Have a meal.", condition=EVENT)
    decided = lived(life)
    assert "Have a meal." in said(life.turns[-2], ModelAsked)[0].prompt

    turn = life.wait(60).control(Sleep())

    assert names(turn) == ["ControlApplied", "SleepBegun", "ModelAsked"]
    begun, asked = one(turn, SleepBegun), one(turn, ModelAsked)
    assert (begun.cause, begun.apply, begun.decisions) == (
        "asked",
        "by_hand",
        (decided,),
    )
    assert (asked.purpose, asked.decision_id) == ("reflection", decided)
    assert asked.priority < 0
    assert EVENT in asked.prompt
    assert "Have a meal." not in asked.prompt
    assert asked.system == said(life.turns[-3], ModelAsked)[0].system
    assert life.mind.moments == ()


def test_an_answer_is_compared_with_what_was_done_and_endorses_what_says_the_same() -> (
    None
):
    """A heuristic that was shown on the day is endorsed now, for now it could not be copied."""
    life = living(withhold=0.0)
    taught(life, "eat", condition=EVENT)
    decided = lived(life, answer="Rest for a while instead.")
    turn = life.wait(60).control(Sleep())

    ended = told(life, turn, SAID)

    assert names(ended) == ["Handled", "Reflected", "Endorsed", "SleepEnded"]
    reflected = one(ended, Reflected)
    assert (reflected.decision_id, reflected.agrees) == (decided, False)
    assert (reflected.text, reflected.done) == (SAID, "Rest for a while instead.")
    assert reflected.alike == ("eat",)
    assert one(ended, Endorsed).decision_id == decided
    end = one(ended, SleepEnded)
    assert (end.reason, end.reflected, end.agreed, end.differed) == ("done", 1, 0, 1)
    assert life.mind.sleeping is None
    slept = life.mind.slept
    assert slept is not None
    assert (slept.reason, slept.reflections[0].done) == ("done", reflected.done)
    assert life.mind.timers == ()


def test_a_heuristic_is_endorsed_once_for_a_decision() -> None:
    """What a model said on the day, unseen, it does not say again for more credit."""
    life = living()
    taught(life, "eat", condition="something of another kind")
    lived(life)
    assert one(life.turns[-1], Endorsed).heuristic_id == "eat"

    turn = told(life, life.wait(60).control(Sleep()), SAID)

    assert one(turn, Reflected).alike == ("eat",)
    assert said(turn, Endorsed) == []


def test_nothing_is_endorsed_where_that_is_off() -> None:
    """A sleep credits by the same settings as the day."""
    life = living(endorsement=False)
    taught(life, "eat", condition="something of another kind")
    lived(life)

    turn = told(life, life.wait(60).control(Sleep()), SAID)

    assert names(turn) == ["Handled", "Reflected", "SleepEnded"]


def test_a_sleep_looks_at_one_event_after_the_other_and_at_each_once() -> None:
    """The oldest first, never two at a time; the next sleep finds nothing left."""
    life = living(formation=False)
    first = lived(life)
    second = lived(life, "the rain is over")

    turn = life.wait(60).control(Sleep())
    assert one(turn, ModelAsked).decision_id == first
    turn = told(life, turn, "Wait.")
    assert names(turn) == ["Handled", "Reflected", "ModelAsked"]
    assert one(turn, ModelAsked).decision_id == second
    told(life, turn, "Go out.")

    again = life.wait(60).control(Sleep())
    assert names(again) == ["ControlApplied", "SleepBegun", "SleepEnded"]
    assert one(again, SleepBegun).decisions == ()


@pytest.mark.parametrize(
    ("control", "count"),
    [
        (Sleep(limit=1), 1),
        (Sleep(limit=0), 0),
        (Sleep(since=factories.after(200)), 2),
        (Sleep(), 3),
    ],
)
def test_how_much_is_looked_at_is_bounded(control: Sleep, count: int) -> None:
    """By number, the latest count; by time; and by the settings."""
    life = living(sleep={"limit": 3})
    decided = [lived(life, f"event number {number}") for number in range(5)]

    turn = life.wait(60).control(control)

    assert one(turn, SleepBegun).decisions == tuple(decided[5 - count :])
    assert len(life.mind.moments) == 4 - bool(count)


def test_only_what_a_strategy_decided_and_what_is_not_too_long_is_remembered() -> None:
    """A gate that closed has nothing to be decided again; the state stays small."""
    life = living(relevance=0.5, model=None)
    life.sense("a leaf falls", intent="informational")
    life.wait(60).sense("x" * 4_001, salience={"threat": 0.9})
    assert life.mind.moments == ()

    forgetful = Life(GARDEN, model=factories.MODEL, relevance=0.0)
    lived(forgetful)
    assert forgetful.mind.moments == ()


def test_what_a_heuristic_said_is_known_by_its_vector() -> None:
    """Of a pack's, of a taught one, and of one that stood by, the words are compared."""
    life = living()
    life.sense("the sun goes down over the hills")
    taught(life, "eat", condition=EVENT, confidence=0.9)
    life.wait(60).sense(EVENT)
    assert [each.said for each in life.mind.moments] == ["Go in.", SAID]
    vectors = [each.vector for each in life.mind.moments]
    assert vectors == [factories.embed("Go in."), factories.embed(SAID)]

    turn = told(life, life.wait(60).control(Sleep()), "Go in.")
    assert one(turn, Reflected).agrees is True
    turn = told(life, turn, "")
    assert one(turn, Reflected).agrees is False


def test_what_a_pack_without_vectors_says_is_not_known_by_any() -> None:
    """Of several packs the one that spoke is looked at."""
    bare = pack(heuristic("walk", "the moon is up", "Go out."), name="aaa", types=["m"])
    life = Life(
        replace(bare, action_vectors=()),
        GARDEN,
        sleep=SleepSettings(events=4),
        relevance=0.0,
    )
    life.sense("the moon is up", type_="m")
    life.wait(60).sense("the sun goes down over the hills")

    vectors = [each.vector for each in life.mind.moments]
    assert vectors == [b"", factories.embed("Go in.")]


def test_what_is_said_too_late_to_be_remembered_changes_nothing() -> None:
    """Its event was pushed out by others by then."""
    life = living(sleep={"events": 1})
    first = life.sense(EVENT)
    life.wait(1).sense("the rain is over")
    life.wait(1).answer_model(first, SAID)

    assert [each.said for each in life.mind.moments] == [""]


def test_silence_agrees_with_silence() -> None:
    """Where nothing was said and the model would say nothing, they are of one mind."""
    life = living()
    turn = life.sense(EVENT)
    life.wait(1).fail_model(turn)

    turn = told(life, life.wait(60).control(Sleep()), '{"response": ""}')

    reflected = one(turn, Reflected)
    assert (reflected.agrees, reflected.done, reflected.text) == (True, "", "")
    assert names(turn) == ["Handled", "Reflected", "SleepEnded"]


def test_without_vectors_nobody_knows_whether_two_answers_agree() -> None:
    """Other words are then neither the same nor different; the same words are."""
    life = living()
    life.vectorless = True
    lived(life)
    lived(life)
    turn = life.wait(60).control(Sleep())
    turn = told(life, turn, "Have a meal.")
    assert one(turn, Reflected).agrees is None
    assert one(told(life, turn, SAID), Reflected).agrees is True


def test_words_that_waited_for_their_prediction_are_compared_too() -> None:
    """Their vector was made when the model said them."""
    life = living(prediction="separate")
    asked = life.sense(EVENT)
    waits = life.wait(1).answer_model(asked, f'{{"response": "{SAID}"}}')
    life.wait(1).answer_model(waits, '{"predicted_success": 0.5}')
    (moment,) = life.mind.moments
    assert (moment.said, moment.vector) == (SAID, factories.embed(SAID))


def test_what_a_model_says_each_time_may_become_a_heuristic() -> None:
    """It is asked for the rule, which passes the gate of formation and is proposed."""
    life = living()
    decided = lived(life)
    turn = told(life, life.wait(60).control(Sleep()), SAID)
    assert names(turn) == ["Handled", "Reflected", "ModelAsked"]
    ask = one(turn, ModelAsked)
    assert (ask.purpose, ask.decision_id) == ("reflection", decided)
    assert SAID in ask.prompt

    turn = told(life, turn, rule(when="health <= 3"))

    assert names(turn) == ["Handled", "ProposalMade", "SleepEnded"]
    made = one(turn, ProposalMade)
    change = made.repertoire
    assert change is not None
    assert change.formed is not None
    assert (change.kind, change.reason, change.before) == ("form", "said_again", ())
    assert (change.formed.condition, change.formed.when) == (CONDITION, "health <= 3")
    assert (change.formed.confidence, made.applied) == (0.3, None)
    assert "garden" not in life.mind.shelves
    assert one(turn, SleepEnded).proposals == (made.proposal_id,)


def test_a_proposed_heuristic_comes_when_it_is_applied_and_goes_when_reverted() -> None:
    """By hand both; what was known of heuristics before is then known again, exactly."""
    life = living()
    lived(life)
    turn = told(life, life.wait(60).control(Sleep()), SAID)
    made = one(told(life, turn, rule()), ProposalMade)
    before = state(life)

    turn = life.wait(60).control(ProposalApplied(proposal_id=made.proposal_id))
    assert names(turn) == ["ControlApplied", "HeuristicFormed"]
    formed = one(turn, HeuristicFormed)
    held = life.mind.shelves["garden"].heuristics[formed.heuristic_id]
    assert (held.vector, held.action_vector) == (
        factories.embed(CONDITION),
        factories.embed(MESSAGE),
    )
    assert made.repertoire is not None
    assert held.content_hash == made.repertoire.after[0].content_hash
    again = life.control(ProposalApplied(proposal_id=made.proposal_id))
    assert refused(again) == "already_applied"

    reverted = life.control(ProposalReverted(proposal_id=made.proposal_id))
    assert names(reverted) == ["ControlApplied"]
    assert state(life) == before
    twice = life.control(ProposalReverted(proposal_id=made.proposal_id))
    assert refused(twice) == "not_applied"
    life.control(ProposalApplied(proposal_id=made.proposal_id))
    assert formed.heuristic_id in life.mind.shelves["garden"].heuristics


def test_a_safe_candidate_comes_at_once() -> None:
    """With so little trust it answers nothing yet; it can be taken back all the same."""
    life = living(sleep={"apply": "safe"})
    lived(life)
    before = state(life)
    turn = told(life, life.wait(60).control(Sleep()), SAID)

    turn = told(life, turn, rule())

    assert names(turn) == ["Handled", "ProposalMade", "HeuristicFormed", "SleepEnded"]
    made, formed = one(turn, ProposalMade), one(turn, HeuristicFormed)
    assert (made.applied, formed.proposal_id) == (True, made.proposal_id)
    held = life.mind.shelves["garden"].heuristics[formed.heuristic_id]
    assert held.vector == factories.embed(CONDITION)
    life.control(ProposalReverted(proposal_id=made.proposal_id))
    assert state(life) == before


def test_a_heuristic_of_the_same_id_stands_in_the_way_and_one_that_was_edited() -> None:
    """What somebody did since is not undone by a proposal."""
    life = living()
    lived(life)
    taught(life, "other", "Another thing.", condition="another kind")
    turn = told(life, life.wait(60).control(Sleep()), SAID)
    made = one(told(life, turn, rule()), ProposalMade)
    assert made.repertoire is not None
    id_ = made.repertoire.after[0].heuristic_id
    apply = ProposalApplied(proposal_id=made.proposal_id)
    revert = ProposalReverted(proposal_id=made.proposal_id)

    life.control(apply)
    life.control(revert)
    assert sorted(life.mind.shelves["garden"].heuristics) == ["other"]
    life.control(apply)
    life.control(HeuristicEdited(heuristic_id=id_, text="Run away at once."))
    assert refused(life.control(revert)) == "outdated"

    blocked = living()
    lived(blocked)
    turn = told(blocked, blocked.wait(60).control(Sleep()), SAID)
    made = one(told(blocked, turn, rule()), ProposalMade)
    assert made.repertoire is not None
    taught(blocked, made.repertoire.after[0].heuristic_id)
    apply = ProposalApplied(proposal_id=made.proposal_id)
    assert refused(blocked.control(apply)) == "outdated"


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ("no rule", "unreadable"),
        (rule(type="shout"), "type"),
        (rule(when="health > 3"), "when_false"),
    ],
)
def test_a_candidate_passes_the_same_gate_as_after_a_vote(
    sent: str, reason: str
) -> None:
    """What falls short is refused with the reason, and the sleep goes on."""
    life = living()
    lived(life)
    lived(life, "the rain is over", "Go out.")
    turn = told(life, life.wait(60).control(Sleep()), SAID)

    turn = told(life, turn, sent)

    assert names(turn) == ["Handled", "CandidateRefused", "ModelAsked"]
    assert one(turn, CandidateRefused).reason == reason
    assert asleep(life).refused == 1


def test_a_candidate_that_is_known_or_has_no_vectors_is_none() -> None:
    """Nobody is asked to judge twice, nor what nothing could match."""
    known = living()
    taught(known, "old", MESSAGE, condition=CONDITION)
    lived(known, answer="Something else.")
    turn = told(known, known.wait(60).control(Sleep()), "Something else.")
    turn = told(known, turn, rule())
    assert one(turn, CandidateRefused).reason == "known"

    blind = living()
    lived(blind)
    turn = told(blind, blind.wait(60).control(Sleep()), SAID)
    blind.vectorless = True
    assert one(told(blind, turn, rule()), CandidateRefused).reason == "not_embedded"


@pytest.mark.parametrize("why", ["off", "disliked", "asked"])
def test_no_rule_is_asked_for_of_what_should_not_become_one(why: str) -> None:
    """Not where nothing is formed, of what somebody disliked, or what was liked already."""
    life = living(formation=why != "off")
    decided = lived(life)
    if why == "disliked":
        life.feedback(decided, "negative")
    if why == "asked":
        life.fail_model(life.feedback(decided, "positive"))

    turn = told(life, life.wait(60).control(Sleep()), SAID)

    assert one(turn, Reflected).agrees is True
    assert said(turn, ModelAsked) == []


def test_whoever_waits_for_the_model_ends_the_sleep() -> None:
    """An event that needs it comes first; what was found by then stands."""
    life = living()
    lived(life)
    lived(life, "the rain is over")
    turn = life.wait(60).control(Sleep())
    life.wait(1).sense("a wolf comes near")

    turn = told(life, turn, "Something else.")

    assert names(turn) == ["Handled", "Reflected", "SleepEnded"]
    assert one(turn, SleepEnded).reason == "woken"


def test_a_model_that_fails_or_never_answers_ends_the_sleep() -> None:
    """Nothing more is asked of it; a late answer is nothing."""
    failing = living()
    lived(failing)
    turn = failing.wait(1).fail_model(failing.wait(60).control(Sleep()))
    assert (names(turn), one(turn, SleepEnded).reason) == (
        ["Handled", "SleepEnded"],
        "model_failed",
    )

    silent = living()
    lived(silent)
    asked = silent.wait(60).control(Sleep())
    silent.wait((PATIENCE + MODEL_GRACE).total_seconds())
    turn = silent.tell(ClockTicked(due_at=factories.NOON))
    assert names(turn) == ["SleepEnded", "Handled"]
    assert one(turn, SleepEnded).reason == "model_timeout"
    assert names(told(silent, asked, SAID)) == ["Handled"]
    assert silent.mind.timers == ()


def test_a_second_answer_in_a_sleep_is_nothing() -> None:
    """The first one counts, while the next is waited for and afterwards."""
    life = living()
    lived(life)
    asked = life.wait(60).control(Sleep())
    told(life, asked, SAID)
    ask = life.turns[-2].outputs[-1]
    message = ask.message
    assert isinstance(message, ModelAsked)
    again = ModelAnswered(
        ask_id=ask.id, request_hash=message.request_hash, model="m", text=SAID
    )
    assert names(life.tell(again)) == ["Handled"]


def test_one_sleep_at_a_time_and_only_of_one_agent() -> None:
    """The others are refused with the reason."""
    life = living()
    lived(life)
    life.wait(60).control(Sleep())
    assert refused(life.control(Sleep())) == "asleep"
    assert refused(life.control(Sleep(), agent=SHARED_AGENT)) == "invalid"


def test_an_idle_agent_sleeps_by_itself_if_it_may() -> None:
    """Half an hour after the last event; each event puts that off."""
    life = living(sleep={"auto": True, "apply": "safe"})
    lived(life)
    assert [each.purpose for each in life.mind.timers] == ["sleep"]
    lived(life, "the rain is over")
    assert len(life.mind.timers) == 1

    assert names(life.wait(1_700).tell(ClockTicked(due_at=factories.NOON))) == [
        "Handled"
    ]
    turn = life.wait(100).tell(ClockTicked(due_at=factories.NOON))

    assert names(turn) == ["SleepBegun", "ModelAsked", "Handled"]
    begun = one(turn, SleepBegun)
    assert (begun.cause, begun.apply) == ("idle", "safe")
    life.wait(1).sense("nobody is idle")
    assert [each.purpose for each in life.mind.timers].count("sleep") == 0


def test_an_agent_without_a_model_sleeps_too() -> None:
    """Nothing is decided again, but what says the same twice is found."""
    life = living(model=None)
    life.sense(EVENT)
    taught(life, "eat", MESSAGE, condition=CONDITION)
    taught(life, "eat_too", MESSAGE, condition=CONDITION)

    turn = life.wait(60).control(Sleep())

    assert names(turn) == ["ControlApplied", "SleepBegun", "ProposalMade", "SleepEnded"]
    assert one(turn, SleepEnded).reason == "no_model"


def test_a_model_that_is_gone_meanwhile_teaches_nothing() -> None:
    """Its last answer is compared; then the sleep is over."""
    life = living()
    lived(life)
    asked = life.wait(60).control(Sleep())
    started = factories.mind_started(
        sleep=SleepSettings(events=4), formation=True, relevance=0.0
    )
    life.control(started, agent=SHARED_AGENT)

    turn = told(life, asked, SAID)

    assert names(turn) == ["Handled", "Reflected", "SleepEnded"]


def test_a_rule_that_waits_for_somebody_s_vote_stays_in_the_making() -> None:
    """A sleep that refuses its own candidate leaves another's alone."""
    life = living()
    decided = lived(life)
    turn = told(life, life.wait(60).control(Sleep()), SAID)
    vote = life.wait(1).feedback(decided, "positive")
    told(life, turn, "no rule")

    formed = told(life, vote, rule())

    assert "HeuristicFormed" in names(formed)
