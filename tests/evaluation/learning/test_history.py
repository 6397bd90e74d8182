"""The history of a recording: each move of confidence with its cause."""

from collections.abc import Sequence

import pytest

from evaluation.learning.heuristics_at import Known
from evaluation.learning.history import LearningHistory, Move, learning_history
from replay.recording.source import of_file
from schemas.messages.controls import HeuristicFrozen, PriorUpdated
from schemas.state.evidence import belief_key
from schemas.values.subjects import SHARED_AGENT
from tests.evaluation.learning.schooling import RESTS, fire, taught, two_sessions
from tests.factories import heuristic, mind_started, pack, pack_loaded
from tests.handlers.mind.wild import Wild
from tests.replay.evening import evening
from tests.replay.scenarios import everything, recording_of, recording_of_scenario
from tests.replay.test_formed import recorded as learnt
from tests.replay.test_formed import taught as taught_by_model
from tests.scenario import Scenario


async def history_of(scenario: Scenario) -> LearningHistory:
    """The history of a scenario."""
    return await learning_history(recording_of_scenario(scenario))


def steps(moves: Sequence[Move]) -> list[tuple[str, float | None, float]]:
    """What happened, and from where to where."""
    return [
        (move.cause.kind, move.before, move.after)
        for move in moves
        if move.cause.kind != "life"
    ]


async def test_every_move_has_its_cause() -> None:
    """Lessons, votes, fires, outcomes and edits, with what was believed around them."""
    found = await history_of(two_sessions())

    assert steps(found.of("h")) == [
        ("taught", None, 0.5),
        ("vote", 0.5, 0.642857),
        ("trust", 0.642857, 0.642857),
        ("fire", 0.642857, 0.642857),
        ("outcome", 0.642857, 0.736842),
        ("fire", 0.736842, 0.736842),
        ("outcome", 0.736842, 0.583333),
        ("trust", 0.583333, 0.583333),
        ("vote", 0.583333, 0.5),
        ("edit", 0.5, 0.5),
        ("frozen", 0.5, 0.5),
    ]
    assert found.names == {"h": RESTS}


async def test_a_cause_names_who_and_which_message() -> None:
    """A vote its person and comment, an outcome its event, both the decision."""
    scenario = two_sessions()
    found = (await history_of(scenario)).of("h")
    by_kind = {move.cause.kind: move.cause for move in found}

    vote, outcome = by_kind["vote"], by_kind["outcome"]
    assert (vote.by, vote.what) == ("bo", "vote -1: not now")
    assert (outcome.by, outcome.what) == ("game", "fail, reported")
    assert vote.decision_id == outcome.decision_id
    ids = {turn.input.id for turn in scenario.turns}
    assert {move.cause.id for move in found} <= ids


async def test_a_move_knows_its_session() -> None:
    """So that it can be looked up where it happened."""
    found = await history_of(two_sessions())

    sessions = [move.session for move in found.of("h") if move.cause.kind == "outcome"]
    assert sessions == ["first", "second"]


async def test_it_begins_and_ends_with_what_is_known() -> None:
    """Before the lesson nothing; after it what the mind itself believes."""
    scenario = two_sessions()
    found = await history_of(scenario)

    assert found.begins == {}
    (known,) = found.ends.values()
    assert (known.name, known.text, known.life) == (RESTS, "Sleep.", "frozen")
    assert known.confidence == 0.5


@pytest.mark.parametrize("seed", range(8))
async def test_the_ends_are_what_the_mind_believes(seed: int) -> None:
    """Of every heuristic of which something was learnt, in scenarios of all sorts."""
    wild = Wild(seed)
    wild.lead(80)
    scenario = wild.scenario
    scenario.agent = "ana"
    scenario.decide("health low")

    found = await history_of(scenario)

    for known in found.ends.values():
        held = scenario.mind.beliefs.get(belief_key(known.id, known.content_hash))
        if held is not None:
            assert (known.confidence, known.fires) == (held.confidence, held.fire_count)


async def test_the_moves_of_a_heuristic_join() -> None:
    """Each begins where the one before it ended, in a scenario in which everything happens."""
    found = await learning_history(recording_of(everything()))

    assert {move.cause.kind for move in found.moves} >= {"fire", "outcome", "vote"}
    contents: dict[tuple[str, str], float] = {}
    for move in found.moves:
        cause = move.cause
        place = cause.heuristic_id, cause.content_hash
        if place in contents and cause.kind not in ("edit", "pack", "taught"):
            assert move.before == contents[place]
        contents[place] = move.after


async def test_other_settings_are_a_cause() -> None:
    """Of whatever they move, at once and for each heuristic."""
    scenario = taught(0.65)
    fire(scenario, "succeeded")
    started = mind_started(threshold=0.6, learning={"weights": {"outcome": 3.0}})
    scenario.control(started, agent=SHARED_AGENT)
    fire(scenario, "succeeded")

    found = (await history_of(scenario)).of("h")

    outcomes = [move for move in found if move.cause.kind == "outcome"]
    gains = [move.after - (move.before or 0.0) for move in outcomes]
    assert len(gains) == 2
    assert all(gain > 0.0 for gain in gains)


async def test_a_pack_brings_and_edits() -> None:
    """Its heuristics come into being with it; another version may change their words."""
    garden = pack(heuristic("h", "health low", "Rest.", confidence=0.8))
    other = pack(heuristic("h", "health low", "Sleep.", confidence=0.7))
    scenario = Scenario(garden)
    scenario.decide("health low")
    scenario.blobs[other.digest] = other
    scenario.control(pack_loaded(other), agent=SHARED_AGENT)

    found = (await history_of(scenario)).of(garden.ids[0])

    assert steps(found) == [("pack", None, 0.8), ("fire", 0.8, 0.8), ("pack", 0.8, 0.7)]


async def test_the_shipped_recording_tells_its_story() -> None:
    """Its moves end where its own beliefs do, and every heuristic has a name."""
    found = await learning_history(of_file(evening(), "evening"))

    last: dict[str, Known] = dict(found.ends)
    for move in found.moves:
        if move.cause.content_hash == last[move.cause.heuristic_id].content_hash:
            confidence = move.after
            last_move = found.of(move.cause.heuristic_id)[-1]
            if last_move is move:
                assert confidence == last[move.cause.heuristic_id].confidence
    assert {move.cause.heuristic_id for move in found.moves} <= found.names.keys()


async def test_what_models_taught_is_told() -> None:
    """What was formed, found again, refused and endorsed, with the model as its source."""
    found = await learning_history(learnt(taught_by_model()))

    by_kind = {move.cause.kind: move for move in found.moves}
    formed, endorsed = by_kind["formed"], by_kind["endorsement"]
    assert (formed.before, formed.after, formed.cause.by) == (None, 0.3, "model")
    assert endorsed.before is not None
    assert endorsed.before < endorsed.after
    assert {"reinforced", "vote"} <= by_kind.keys()
    assert sum(found.refused.values()) > 0
    origins = {known.origin for known in found.ends.values()}
    assert origins == {"skill_pack", "learned"}


async def test_a_prior_moves_what_nothing_was_learnt_of() -> None:
    """It is a cause of its own for each heuristic of the origin."""
    garden = pack(heuristic("h", "health low", "Rest.", confidence=0.8))
    scenario = Scenario(garden)
    scenario.decide("what nobody knows")
    scenario.control(PriorUpdated(origin="skill_pack", mean=0.4))
    scenario.decide("health low")

    (_, move) = (await history_of(scenario)).of(garden.ids[0])

    assert (move.cause.kind, move.before, move.after) == ("settings", 0.8, 0.4)
    assert move.cause.what == "another prior of its origin"


async def test_a_new_trial_begins_where_it_was_declared() -> None:
    """Releasing what froze of itself moves it."""
    scenario = taught(0.65)
    scenario.control(mind_started(threshold=0.6, learning={"frozen_below": 0.5}), "_")
    fire(scenario, "failed")
    scenario.control(HeuristicFrozen(heuristic_id="h", frozen=False))

    moves = (await history_of(scenario)).of("h")

    released = next(move for move in moves if move.cause.kind == "released")
    assert released.before is not None
    assert released.before < 0.5 < released.after
