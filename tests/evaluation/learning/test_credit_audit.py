"""The audit: credit that no rule allows is found, and what is allowed is not."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import orjson
import pytest
from msgspec import structs

from evaluation.learning.credit_audit import RULES, Audit, audit
from evaluation.learning.summary import read, report
from replay.recording.source import Recording, of_file
from schemas.messages.controls import ProposalApplied, ProposalReverted, SleepRequested
from schemas.messages.decisions import HeuristicFired
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import (
    Endorsed,
    FeedbackApplied,
    OutcomeObserved,
    ProposalMade,
)
from schemas.values.record import Record
from streams.session_files.file import SessionFile
from tests.evaluation.learning.schooling import THREAT, two_sessions
from tests.factories import heuristic, pack, pattern
from tests.handlers.mind import sleepers
from tests.handlers.mind.sleepers import EVENT, SAID, answered_event, living, rule, told
from tests.handlers.mind.wild import Wild
from tests.replay.evening import evening, place, with_record
from tests.replay.scenarios import (
    everything,
    file_of_scenario,
    recording_of,
    recording_of_scenario,
)
from tests.replay.test_formed import recorded as learnt
from tests.replay.test_formed import taught as taught_by_model
from tests.scenario import Scenario, one

OUTCOME = f".{OutcomeObserved.token}"
VOTE = f".{FeedbackApplied.token}"
FIRE = f".{HeuristicFired.token}"


def forged(file: SessionFile, index: int, **fields: Any) -> SessionFile:
    """The recording with other fields in the record at a place."""
    record = file.records[index]
    body = {**orjson.loads(record.body), **fields}
    return with_record(file, index, structs.replace(record, body=orjson.dumps(body)))


def fields(record: Record) -> Mapping[str, Any]:
    """What a record says."""
    found: Mapping[str, Any] = orjson.loads(record.body)
    return found


async def audited(file: SessionFile) -> Audit:
    """The audit of a file."""
    return await audit(of_file(file, "forged"))


async def test_nothing_is_wrong_with_the_shipped_recording() -> None:
    """Each of its credits is looked at."""
    found = await audited(evening())

    assert found.credits > 20
    assert found.faults == ()


async def test_nothing_is_wrong_with_a_scenario_of_everything() -> None:
    """Races, reports, votes, edits and models are all as they may be."""
    found = await audit(recording_of(everything()))

    assert found.credits > 20
    assert found.faults == ()


@pytest.mark.parametrize("seed", range(6))
async def test_nothing_is_wrong_with_wild_scenarios(seed: int) -> None:
    """Whatever comes, in whatever order."""
    wild = Wild(seed)
    wild.lead(80)
    wild.scenario.agent = "ana"
    wild.scenario.decide("health low")

    assert (await audit(recording_of_scenario(wild.scenario))).faults == ()


def _unshown(file: SessionFile) -> SessionFile:
    """A credited fire that the person never saw."""
    fire_id = fields(file.records[place(file, OUTCOME)])["fire_id"]
    index = next(
        index
        for index, record in enumerate(file.records)
        if record.headers.get("ce-id") == fire_id
    )
    return forged(file, index, mode="suggested")


def _of_another(file: SessionFile) -> SessionFile:
    """A vote that credits the fire of another decision."""
    index = next(
        index
        for index, record in enumerate(file.records)
        if record.subject.endswith(VOTE) and fields(record).get("fire_id")
    )
    fire_id = file.records[place(file, FIRE)].headers["ce-id"]
    return forged(file, index, fire_id=fire_id)


def _second(file: SessionFile) -> SessionFile:
    """A second outcome of the first fire that had one."""
    places = [
        index
        for index, record in enumerate(file.records)
        if record.subject.endswith(OUTCOME)
        and fields(record)["outcome"] in ("success", "fail")
    ]
    first = fields(file.records[places[0]])
    names = ("fire_id", "decision_id", "heuristic_id", "content_hash")
    return forged(file, places[1], **{name: first[name] for name in names})


def _unseen(file: SessionFile) -> SessionFile:
    """An outcome by a pattern that the event does not have."""
    index = next(
        index
        for index, record in enumerate(file.records)
        if record.subject.endswith(OUTCOME) and fields(record)["by"] == "pattern"
    )
    return forged(file, index, pattern="all is well")


def _turned(file: SessionFile) -> SessionFile:
    """A vote that counts the other way round."""
    index = place(file, VOTE)
    return forged(file, index, value=-fields(file.records[index])["value"])


@pytest.mark.parametrize(
    ("forge", "rule"),
    [
        (_unshown, "never_shown"),
        (_of_another, "never_shown"),
        (_second, "second_outcome"),
        (_unseen, "outcome_of_another"),
        (_turned, "vote_of_another"),
    ],
)
async def test_credit_against_a_rule_is_found(
    forge: Callable[[SessionFile], SessionFile], rule: str
) -> None:
    """With the input that gave it, and what is wrong."""
    found = await audited(forge(evening()))

    assert rule in {fault.rule for fault in found.faults}
    assert all(fault.sequence > 0 and fault.detail for fault in found.faults)
    assert RULES.keys() >= {fault.rule for fault in found.faults}


async def test_a_heuristic_that_did_not_answer_earns_nothing() -> None:
    """A fire shown for a decision that a model answered would be wrong."""
    file = evening()
    outcome = fields(file.records[place(file, OUTCOME)])
    index = next(
        index
        for index, record in enumerate(file.records)
        if record.headers.get("ce-id") == outcome["decision_id"]
    )

    found = await audited(forged(file, index, arm="llm:x@y@z"))

    assert "not_its_words" in {fault.rule for fault in found.faults}


async def test_what_was_decided_before_the_recording_is_known() -> None:
    """An outcome in a later session is of a fire that its checkpoint remembers."""
    garden = pack(
        heuristic("h", "health low", "Rest.", confidence=0.8),
        patterns=[pattern("health", "all better", timeout_s=600.0)],
    )
    scenario = Scenario(garden)
    scenario.wait(60).sense("health low", salience=THREAT)
    later = Scenario(garden, state=scenario.state)
    later.at = scenario.at
    later._sequence = scenario._sequence
    later.wait(30).sense("all better now", salience=THREAT)
    later.tell(FeedbackGiven(heuristic_id=garden.ids[0], rating="positive"))
    whole = recording_of_scenario(later)

    found = await audit(_starting(whole, scenario))

    assert found.credits == 2
    assert found.faults == ()


def _starting(recording: Recording, scenario: Scenario) -> Recording:
    """A recording that begins where a scenario stands."""
    return replace(recording, start=scenario.state)


async def test_a_scenario_of_votes_and_reports_is_counted() -> None:
    """Two votes and two outcomes are four credits."""
    found = await audit(recording_of_scenario(two_sessions()))

    assert (found.credits, found.faults) == (4, ())


async def test_what_models_taught_was_earned() -> None:
    """Endorsements unasked, once an answer, and heuristics of answers that were liked."""
    found = await audit(learnt(taught_by_model()))

    assert found.credits > 0
    assert found.faults == ()


async def test_an_endorsement_of_what_was_shown_is_found() -> None:
    """A model that had it before it may have copied it."""
    scenario = taught_by_model()
    file = file_of_scenario(scenario)
    index = place(file, f".{Endorsed.token}")
    decision_id = fields(file.records[index])["decision_id"]
    decided = next(
        index
        for index, record in enumerate(file.records)
        if record.headers.get("ce-id") == decision_id
    )
    candidates = [
        {**each, "withheld": False}
        for each in fields(file.records[decided])["candidates"]
    ]

    found = await audited(forged(file, decided, candidates=candidates))

    assert {fault.rule for fault in found.faults} == {"endorsed_shown"}


async def test_what_a_sleep_endorses_and_brings_was_earned() -> None:
    """It asks again and shows nothing, of what heuristics answered as well."""
    scenario = living(withhold=0.0)
    sleepers.taught(scenario, "eat", condition=EVENT)
    answered_event(scenario, answer="Rest for a while instead.")
    told(scenario, scenario.wait(60).control(SleepRequested()), SAID)

    found = await audit(recording_of_scenario(scenario))

    assert found.credits == 1
    assert found.faults == ()


async def test_a_heuristic_that_a_sleep_proposed_needs_no_vote() -> None:
    """It may come, go and come again; it is none of those that people liked."""
    scenario = living()
    answered_event(scenario)
    turn = told(scenario, scenario.wait(60).control(SleepRequested()), SAID)
    proposal_id = one(told(scenario, turn, rule()), ProposalMade).proposal_id
    scenario.control(ProposalApplied(proposal_id=proposal_id))
    scenario.control(ProposalReverted(proposal_id=proposal_id))
    scenario.control(ProposalApplied(proposal_id=proposal_id))

    found = await read(recording_of_scenario(scenario))

    assert found.audit.faults == ()
    assert report([found]).formed == 0
    whats = {move.cause.what for move in found.history.moves}
    assert f"formed by the proposal {proposal_id}" in whats


async def test_silence_and_what_is_taken_back_count_by_the_rules() -> None:
    """Advice ignored in a row, and an undo that names what it takes back."""
    garden = pack(
        heuristic("h", "health low", "Rest.", confidence=0.9),
        patterns=[pattern("health", "all better", timeout_s=60.0)],
    )
    scenario = Scenario(garden, learning={"ignored_after": 2, "undo_s": 30.0})
    for _ in range(2):
        scenario.wait(700).sense("health low", salience=THREAT)
        scenario.wait(100).sense("the wind blows", type_="thing")
    turn = scenario.wait(700).sense("health low", salience=THREAT, entities=["ana"])
    scenario.wait(5).sense("undo", entities=["ana"])
    assert turn.outputs

    found = await audit(recording_of_scenario(scenario))

    assert (found.credits, found.faults) == (2, ())
