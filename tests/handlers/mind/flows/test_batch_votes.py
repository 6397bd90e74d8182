"""Votes on several answers that were said as one: each heuristic has its share."""

from typing import Any

import pytest

from evaluation.evidence.gather import gather, joined
from evaluation.evidence.refold import BeliefFold
from evaluation.learning.credit_audit import audit
from handlers.mind.turn import Turn
from projections.rows.changes import Row
from replay.recording.outcomes import Outcomes, OutcomeSettings
from replay.recording.recorded_groups import RecordedGroup, read_groups
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Decided, HeuristicFired
from schemas.messages.executive import BreakSignalled, UserStateChanged
from schemas.messages.learning import FeedbackApplied
from schemas.state.evidence import Belief, Signal
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.model_settings import ModelSettings
from tests.factories import heuristic, pack, plain_executive
from tests.projections import chronicle
from tests.replay.scenarios import recording_of_scenario
from tests.scenario import Scenario, one, said

ON = plain_executive(timing=True, shares_votes=True)
OFF = plain_executive(timing=True)
BUSY = UserStateChanged(busy=True)

THINGS = ("kettle", "oven", "boiler", "freezer", "dryer")
WEIGHT = 0.8


def home(*texts: str) -> Scenario:
    """A mind that shares votes, with a heuristic for each thing; texts say it all."""
    return start(ON, *texts)


def start(executive: ExecutiveSettings, *texts: str, **settings: Any) -> Scenario:
    """A scenario with a heuristic for each thing, all of the same words by default."""
    words = texts or ("Look after it.",) * len(THINGS)
    known = [
        heuristic(thing, f"the {thing} is done", text, confidence=0.9)
        | {"action": {"text": text, "type": "suggestion"}}
        for thing, text in zip(THINGS, words, strict=True)
    ]
    return Scenario(pack(*known), executive=executive, relevance=0.01, **settings)


def waited(scenario: Scenario, things: tuple[str, ...] = THINGS) -> list[Turn]:
    """The events that wait for a break, one for each thing."""
    scenario.control(BUSY)
    return [
        scenario.wait(1).sense(
            f"the {thing} is done", entities=["kitchen"], salience={"social": 0.9}
        )
        for thing in things
    ]


def told(scenario: Scenario) -> Turn:
    """All that waits, said as one."""
    waited(scenario)
    return scenario.wait(5).control(BreakSignalled())


def lead(turn: Turn) -> str:
    """The decision whose answer stands for all."""
    return one(turn, Completed).decision_id


def beliefs(scenario: Scenario) -> dict[str, Belief]:
    """What is believed, by the key of the heuristic's content."""
    return {key: scenario.mind.beliefs[key] for key in sorted(scenario.mind.beliefs)}


def votes(scenario: Scenario) -> list[Signal]:
    """The votes that count for heuristics, by heuristic."""
    return [
        each
        for belief in beliefs(scenario).values()
        for each in belief.signals
        if each.kind == "explicit"
    ]


def counted(scenario: Scenario) -> float:
    """The successes and failures beyond the priors, in observations."""
    return sum(each.alpha + each.beta for each in beliefs(scenario).values())


def test_five_heuristics_share_a_vote() -> None:
    """Each was shown, and each has a fifth of what a vote weighs."""
    scenario = home()
    turn = told(scenario)
    before = counted(scenario)
    voted = scenario.feedback(lead(turn), "positive", actor="ada")

    assert len({each.heuristic_id for each in said(turn, HeuristicFired)}) == 5
    applied = said(voted, FeedbackApplied)
    assert [each.share for each in applied] == [0.2] * 5
    assert [each.decision_id for each in applied] == [lead(turn), *[None] * 4]
    assert {each.through for each in applied[1:]} == {lead(turn)}
    assert {each.fire_id for each in applied} == {
        each.id for each in turn.outputs if isinstance(each.message, HeuristicFired)
    }
    assert [each.share for each in votes(scenario)] == [0.2] * 5
    assert counted(scenario) - before == pytest.approx(WEIGHT)


def test_one_heuristic_of_several_answers_has_all_their_shares() -> None:
    """Each of its fires has one."""
    scenario = home()
    waited(scenario, ("kettle",) * 4)
    turn = scenario.control(BreakSignalled())
    before = counted(scenario)
    scenario.feedback(lead(turn), "negative")

    assert [each.share for each in votes(scenario)] == [0.25] * 4
    assert counted(scenario) - before == pytest.approx(WEIGHT)


def test_all_that_is_said_as_one_shares() -> None:
    """All of the texts are said, so all heuristics fire and share."""
    scenario = home("One.", "Two.", "Three.", "Four.", "Five.")
    turn = told(scenario)
    voted = scenario.feedback(lead(turn))

    assert len(one(turn, Completed).also_answers) == 4
    assert len(said(turn, HeuristicFired)) == 5
    assert [each.share for each in said(voted, FeedbackApplied)] == [0.2] * 5


def test_a_changed_vote_replaces_every_share() -> None:
    """As if only the later had been given."""
    changed, plain = home(), home()
    changed.feedback(lead(told(changed)), "positive", actor="ada")
    changed.wait(9).feedback(lead(changed.turns[-2]), "negative", actor="ada")
    plain.feedback(lead(told(plain)), "negative", actor="ada")

    assert [each.confidence for each in beliefs(changed).values()] == [
        each.confidence for each in beliefs(plain).values()
    ]
    assert [each.value for each in votes(changed)] == [0.0] * 5


def test_a_vote_on_the_timing_alone_takes_every_share_back() -> None:
    """What was believed before it is believed again."""
    scenario = home()
    turn = told(scenario)
    before = {key: each.confidence for key, each in beliefs(scenario).items()}
    scenario.feedback(lead(turn), actor="ada")
    assert {k: e.confidence for k, e in beliefs(scenario).items()} != before
    scenario.feedback(lead(turn), actor="ada", aspect="timing")

    assert votes(scenario) == []
    assert {k: e.confidence for k, e in beliefs(scenario).items()} == before


def test_it_is_one_vote_of_its_voter() -> None:
    """In the voter's usual votes, in rapport, in mood."""
    scenario = home()
    turn = told(scenario)
    scenario.feedback(lead(turn), actor="ada")
    alone = home()
    waited(alone, ("kettle",))
    alone.feedback(lead(alone.wait(5).control(BreakSignalled())), actor="ada")

    rater = scenario.mind.raters.get("ada")
    assert rater is not None
    assert rater.count == 1
    ours, theirs = scenario.mind.rapport.get("ada"), alone.mind.rapport.get("ada")
    assert ours is not None
    assert theirs is not None
    assert ours.value == theirs.value
    mood = scenario.mind.executive.personality.mood
    alones = alone.mind.executive.personality.mood
    assert mood is not None
    assert alones is not None
    assert (mood.valence, mood.arousal) == (alones.valence, alones.arousal)


def test_a_vote_on_another_answer_counts_for_its_heuristic_alone() -> None:
    """By its share, and in place of what came to it by the lead."""
    scenario = home()
    turn = told(scenario)
    member = one(turn, Completed).also_answers[0]
    scenario.feedback(lead(turn), "positive", actor="ada")
    voted = scenario.feedback(member, "negative", actor="ada")

    assert one(voted, FeedbackApplied).share == 0.2
    values = sorted(each.value for each in votes(scenario))
    assert values == [0.0, 1.0, 1.0, 1.0, 1.0]


def test_a_models_words_that_lead_earn_nothing() -> None:
    """Nor does the vote teach a rule, as nobody knows which of the words were liked."""
    model = ModelSettings(name="m")
    scenario = start(ON, model=model, formation=True)
    scenario.control(BUSY)
    asked = scenario.sense(
        "a stranger rings", entities=["kitchen"], salience={"social": 1.0}
    )
    assert said(asked, ModelAsked)
    scenario.answer_model(asked, "Somebody is at the door.")
    scenario.sense("the kettle is done", entities=["kitchen"], salience={"social": 0.2})
    turn = scenario.control(BreakSignalled())
    voted = scenario.feedback(lead(turn))

    assert one(turn, Completed).path == "llm"
    assert len(one(turn, Completed).also_answers) == 1
    applied = one(voted, FeedbackApplied)
    assert (applied.heuristic_id, applied.share) == (None, 0.5)
    assert votes(scenario) == []
    assert said(voted, ModelAsked) == []


def test_a_log_of_before_credits_the_lead_in_full() -> None:
    """Nothing of the batch is remembered there."""
    scenario = start(OFF)
    turn = told(scenario)
    voted = scenario.feedback(lead(turn))

    assert one(voted, FeedbackApplied).share is None
    assert [each.share for each in votes(scenario)] == [1.0]
    known = scenario.mind.decisions.get(lead(turn))
    assert known is not None
    assert known.batch is None


def test_a_forgotten_lead_has_its_share_alone() -> None:
    """What the log holds of it came with the vote."""
    scenario = home()
    turn = told(scenario)
    fire = next(e for e in turn.outputs if isinstance(e.message, HeuristicFired))
    assert isinstance(fire.message, HeuristicFired)
    about = {
        "event_id": "e",
        "source": "game",
        "path": "heuristic",
        "fire_id": fire.id,
        "heuristic_id": fire.message.heuristic_id,
        "content_hash": fire.message.content_hash,
        "answers": 5,
    }
    voted = scenario.feedback("forgotten", about=about)

    assert one(voted, FeedbackApplied).share == 0.2
    assert [each.share for each in votes(scenario)] == [0.2]


def everything() -> Scenario:
    """Votes that are shared, changed, and withdrawn."""
    scenario = home()
    turn = told(scenario)
    scenario.feedback(lead(turn), "positive", actor="ada")
    scenario.feedback(lead(turn), "negative", actor="lee")
    scenario.feedback(lead(turn), "positive", actor="lee", aspect="timing")
    scenario.feedback(one(turn, Completed).also_answers[1], "negative", actor="kim")
    return scenario


async def test_the_audit_and_the_evidence_agree_with_the_mind() -> None:
    """No credit is at fault, and other settings may be tried on the same facts."""
    scenario = everything()
    recording = recording_of_scenario(scenario)
    evidence = joined(await gather(recording))
    believing = BeliefFold(evidence.believed, evidence.learning, {})
    for fact in evidence.facts:
        believing.take(fact)

    assert (await audit(recording)).faults == ()
    assert {key: each.confidence for key, each in believing.believed.items()} == {
        key: each.confidence for key, each in beliefs(scenario).items()
    }


async def test_it_values_no_decision() -> None:
    """Nobody knows which of the answers was judged."""
    outcomes = Outcomes(OutcomeSettings())

    def take(group: RecordedGroup) -> None:
        tokens = frozenset((Decided.token, FeedbackApplied.token))
        outcomes.take(group.input, group.outputs(tokens), group.before.packs)

    await read_groups(recording_of_scenario(everything()), take)
    ended = outcomes.ledger.ended()
    assert len(ended) == 5
    assert {each.votes for each in ended.values()} == {0}


def test_the_rows_say_what_is_believed() -> None:
    """Of each heuristic, of each fire, and of each step of the history."""
    scenario = everything()
    tables = chronicle.joined(scenario)
    rows: list[Row] = list(tables["heuristics"].puts.values())
    changes: list[Row] = list(tables["confidence_changes"].puts.values())
    last = {row["content_hash"]: row["after"] for row in changes}

    believed = {
        key.rpartition("@")[2]: each.confidence
        for key, each in beliefs(scenario).items()
    }
    assert len(believed) == 5
    assert {row["content_hash"]: row["confidence"] for row in rows} == believed
    assert {key: last[key] for key in believed} == believed
    fires: list[Row] = list(tables["heuristic_fires"].puts.values())
    assert sorted(str(row["said"]) for row in fires) == ["success"] * 4 + ["unknown"]
