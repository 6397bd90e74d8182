"""What the read models answer."""

import pytest

from projections.projector.projector import Projector
from projections.store import queries
from projections.store.store import Store
from schemas.messages.results import ClockTicked
from tests import factories
from tests.projections.chronicle import GARDEN, HINTS, LOW, Chronicle, eventful, garden
from tests.scenario import Scenario, decision_id

pytestmark = pytest.mark.services

EAT = GARDEN.ids[0]


@pytest.fixture
async def chronicle(store: Store) -> Chronicle:
    """A log that is in the tables."""
    chronicle = Chronicle(eventful(garden()))
    await chronicle.catch_up()
    await Projector(chronicle.log, store, chronicle.aids).catch_up()
    return chronicle


async def test_history_of_a_heuristic(chronicle: Chronicle, store: Store) -> None:
    """The steps come in order."""
    whole = queries.history(store, chronicle.scenario.agent, EAT)
    assert [each.why for each in whole] == ["pack", "vote", "vote", "outcome_pattern"]
    assert whole[-1].after == 0.684211


async def test_decisions_are_found_by_session_and_status(
    chronicle: Chronicle, store: Store
) -> None:
    """The last silent one is the latest decision whose status says so."""
    first = decision_id(chronicle.scenario.turns[2])
    (found,) = (each for each in queries.decisions(store) if each.id == first)
    assert (found.text, found.latency_ms) == ("Eat something.", 2.0)
    assert found.salience["effective"] == 0.95
    assert found.gates
    assert found.candidates

    (silent,) = queries.decisions(store, status="silent", limit=1)
    assert silent.event_text == "the wind blows again"
    assert silent.silence == "below_relevance"
    of_session = queries.decisions(store, "ana", session=silent.session_id)
    assert [each.event_text for each in of_session] == ["the wind blows again", LOW]


async def test_a_concluded_decision_shows_its_end(store: Store) -> None:
    """Text, path and model are those of the answer; a dropped one names its reason."""
    scenario = Scenario(model=factories.MODEL)
    asked = scenario.sense("a knock at the door", salience=HINTS)
    scenario.wait(1).answer_model(asked, "Shall I look?")
    scenario.fail_model(scenario.wait(600).sense("another knock", salience=HINTS))
    chronicle = Chronicle(scenario)
    await chronicle.catch_up()
    await Projector(chronicle.log, store, chronicle.aids).catch_up()

    dropped, spoke = queries.decisions(store)
    assert (spoke.status, spoke.text, spoke.path, spoke.model) == (
        "spoke",
        "Shall I look?",
        "llm",
        factories.MODEL.name,
    )
    assert spoke.completed_latency_ms == 1002.0
    assert (dropped.status, dropped.path, dropped.drop_reason) == (
        "dropped",
        "fallback",
        "llm_no_response",
    )


async def test_sessions_and_what_was_quarantined(
    chronicle: Chronicle, store: Store
) -> None:
    """Each tells what happened in its own words."""
    latest, first = queries.sessions(store, chronicle.scenario.agent)
    assert (first.ended_by, latest.ended_by) == ("gap", None)
    (stands,) = store.rows("SELECT person, value FROM rapport")
    assert (stands["person"], stands["value"]) == ("kim", 0.45)
    (unread,) = store.rows("SELECT reason, sequence FROM quarantine")
    (sent,) = [
        each.input.sequence
        for each in chronicle.scenario.turns
        if each.input.record.headers.get("ce-schemaversion") == "x"
    ]
    assert (unread["reason"], unread["sequence"]) == ("invalid", sent)


async def test_a_race_names_its_winner(store: Store) -> None:
    """In the view of decisions, with the words and the numbers of whoever won."""
    scenario = garden(model=factories.MODEL, strategy={"name": "hybrid"})
    asked = scenario.sense(LOW)
    scenario.wait(0.4).tell(ClockTicked(due_at=scenario.at))
    told = Chronicle(scenario)
    await told.catch_up()
    await Projector(told.log, store, told.aids).catch_up()

    (decision,) = (e for e in queries.decisions(store) if e.id == decision_id(asked))
    assert decision.arm.startswith("race:llm:")
    assert (decision.winner or "").startswith(f"heuristic:{EAT}@")
    assert (decision.path, decision.text) == ("heuristic", "Eat something.")
    assert decision.predicted_success == 0.8
