"""Which rows a scenario comes to, by the folds alone: no database is needed to see them."""

from typing import Any

import orjson
import pytest

from projections.rows.changes import Row, TableName
from schemas.messages.asks import ModelAsked
from schemas.messages.controls import (
    HeuristicEdited,
    HeuristicFrozen,
    HeuristicSeeded,
    MindStarted,
    SessionEnded,
    SessionStarted,
)
from schemas.messages.learning import HeuristicFormed
from schemas.messages.results import ClockTicked, Delivered, ModelAnswered
from schemas.packs.compiled import CompiledPack
from schemas.values.subjects import SHARED_AGENT
from tests import factories
from tests.factories import plain_learning
from tests.projections.chronicle import (
    EATEN,
    GARDEN,
    HINTS,
    LOW,
    eventful,
    garden,
    joined,
)
from tests.scenario import Scenario, decision_id, one, output

EAT = GARDEN.ids[0]


def rows(scenario: Scenario, table: TableName) -> list[Row]:
    """The rows of one table, in order of their first change."""
    changes = joined(scenario).get(table)
    return list(changes.puts.values()) if changes is not None else []


def only(scenario: Scenario, table: TableName) -> Row:
    """The only row of a table."""
    (row,) = rows(scenario, table)
    return row


def columns(row: Row, *names: str) -> tuple[Any, ...]:
    """Some columns of a row."""
    return tuple(row[name] for name in names)


def test_heuristics_of_a_pack_are_rows_of_every_agent() -> None:
    """They stand as declared from the agent's first input on."""
    scenario = garden()
    scenario.sense("hello")

    eat, rest = rows(scenario, "heuristics")
    assert columns(eat, "name", "confidence", "lifecycle", "origin", "fire_count") == (
        "eat",
        0.8,
        "active",
        "skill_pack",
        0,
    )
    assert eat["condition"] == '{"text":"health is low"}'
    assert columns(rest, "name", "alpha", "beta") == ("rest", 1.2, 0.8)


def test_a_pack_loaded_later_reaches_agents_that_are_known() -> None:
    """A load for everybody adds rows for each agent of the partition."""
    scenario = Scenario()
    scenario.sense("hello")
    scenario.blobs[GARDEN.digest] = GARDEN
    scenario.control(factories.pack_loaded(GARDEN), agent=SHARED_AGENT)

    assert len(rows(scenario, "heuristics")) == 2


def with_newer() -> tuple[Scenario, CompiledPack]:
    """A garden in which the agent has a newer pack of its own, and that pack."""
    scenario = garden()
    scenario.sense("hello")
    newer = factories.pack(
        factories.heuristic("eat", "hunger", "Eat.", 0.5), version="2.0.0"
    )
    scenario.blobs[newer.digest] = newer
    scenario.control(factories.pack_loaded(newer))
    return scenario, newer


def test_what_everybody_has_is_in_force_again_once_an_agents_own_is_taken_out() -> None:
    """As if it had never been loaded."""
    scenario, own = with_newer()
    scenario.control(factories.pack_loaded(own, off=True))

    found = rows(scenario, "heuristics")
    assert [
        (each["name"], *columns(each, "in_force", "origin_id")) for each in found
    ] == [("eat", True, "garden@1.0.0"), ("rest", True, "garden@1.0.0")]


def test_a_heuristic_that_its_pack_dropped_is_out_of_force() -> None:
    """A newer version replaces what it has and leaves the rest as it was, out of force."""
    scenario, _ = with_newer()

    eat, rest = rows(scenario, "heuristics")
    assert columns(eat, "in_force", "confidence", "origin_id") == (
        True,
        0.5,
        "garden@2.0.0",
    )
    assert rest["in_force"] is False


def test_what_was_taught_names_the_control_that_taught_it() -> None:
    """Also once it was edited: where it came from stays."""
    scenario = garden()
    lesson = HeuristicSeeded(
        heuristic_id="h", name="h", domain="garden", condition="dusk", text="Go in."
    )
    taught = scenario.control(lesson).input.id
    scenario.control(HeuristicEdited(heuristic_id="h", text="Go home."))

    (row,) = [each for each in rows(scenario, "heuristics") if each["name"] == "h"]
    assert columns(row, "origin", "origin_id") == ("seeded", taught)


def test_a_fire_shows_the_outcome_before_what_people_said() -> None:
    """The world's word is the stronger one."""
    scenario = garden()
    advised = scenario.sense(LOW, salience=HINTS)
    scenario.feedback(advised, "negative")

    said = only(scenario, "heuristic_fires")
    assert columns(said, "outcome", "feedback_source") == ("fail", "explicit")

    scenario.sense(EATEN, type_="thing")
    shown = only(scenario, "heuristic_fires")
    assert columns(shown, "outcome", "feedback_source") == ("success", "implicit")

    scenario.feedback(advised, "negative", actor="kim")
    after = only(scenario, "heuristic_fires")
    assert columns(after, "outcome", "feedback_source") == ("success", "implicit")


def test_a_fire_keeps_order_and_time_of_each_signal() -> None:
    """An outcome and a vote eight seconds later are two, and the first stays the first."""
    scenario = garden()
    advised = scenario.sense(LOW, salience=HINTS)
    seen = scenario.wait(5).sense(EATEN, type_="thing")
    said = scenario.wait(8).feedback(advised, "negative")

    fire = only(scenario, "heuristic_fires")
    assert columns(fire, "outcome", "feedback_source") == ("success", "implicit")
    assert fire["feedback_at"] == fire["seen_at"] == seen.input.at
    assert columns(fire, "seen", "seen_sequence") == ("success", seen.input.sequence)
    assert columns(fire, "said", "said_at") == ("fail", said.input.at)
    assert fire["said_sequence"] == said.input.sequence

    scenario.wait(9).feedback(advised, "negative", aspect="timing")
    withdrawn = only(scenario, "heuristic_fires")
    assert columns(withdrawn, "said", "said_at", "said_sequence") == (None,) * 3
    assert withdrawn["feedback_at"] == seen.input.at


def test_a_fire_whose_outcome_never_came_timed_out() -> None:
    """Unless somebody had said how it went."""
    scenario = garden()
    scenario.sense(LOW, salience=HINTS)
    scenario.wait(100).sense("something else")

    timed_out = only(scenario, "heuristic_fires")
    assert columns(timed_out, "outcome", "feedback_source") == ("timeout", None)

    scenario = garden()
    scenario.feedback(scenario.sense(LOW, salience=HINTS), "positive")
    scenario.wait(100).sense("something else")

    judged = only(scenario, "heuristic_fires")
    assert columns(judged, "outcome", "feedback_source") == ("success", "explicit")


@pytest.mark.parametrize("outcome", ["overridden", "cancelled"])
def test_a_report_may_move_no_confidence(outcome: str) -> None:
    """Its outcome is shown, and the history has no entry."""
    scenario = garden()
    advised = scenario.sense(LOW, salience=HINTS)
    scenario.sense("not now", in_reply_to=decision_id(advised), outcome=outcome)

    assert only(scenario, "heuristic_fires")["outcome"] == outcome
    assert [row["why"] for row in rows(scenario, "confidence_changes")] == [
        "pack",
        "pack",
    ]


def test_the_history_tells_why_confidence_moved_and_by_what() -> None:
    """Each step names its reason, its message, and the belief it led to."""
    scenario = eventful(garden())

    steps = [
        columns(row, "why", "detail", "before", "after", "sequence")
        for row in rows(scenario, "confidence_changes")
        if row["heuristic_id"] == EAT
    ]
    assert steps == [
        ("pack", "garden 1.0.0", None, 0.8, 5),
        ("vote", "kim: +1", 0.8, 0.857143, 9),
        ("vote", "kim: -1", 0.857143, 0.571429, 11),
        ("outcome_pattern", "success: ate", 0.571429, 0.684211, 14),
    ]
    eat = rows(scenario, "heuristics")[0]
    assert columns(eat, "confidence", "fire_count", "success_count") == (0.684211, 1, 1)
    assert columns(eat, "alpha", "beta") == pytest.approx((2.6, 1.2))


def test_votes_are_kept_with_the_rapport_they_moved() -> None:
    """Both votes are rows; the latest alone counts for the person's rapport."""
    scenario = eventful(garden())

    votes = [
        columns(row, "feedback_type", "weight", "rapport_before", "rapport_after")
        for row in rows(scenario, "feedback_events")
    ]
    assert votes == [
        ("explicit_positive", 0.8, 0.5, 0.525),
        ("explicit_negative", 0.8, 0.525, 0.45),
    ]
    assert only(scenario, "rapport")["value"] == 0.45


def test_teaching_editing_and_freezing_change_the_heuristic() -> None:
    """An edit of the content starts from the declared value and is told as such."""
    scenario = garden()
    scenario.control(
        HeuristicSeeded(
            heuristic_id="h", name="mine", domain="garden", condition="a", text="b"
        )
    )
    scenario.control(HeuristicEdited(heuristic_id="h", name="renamed"))
    scenario.control(HeuristicEdited(heuristic_id="h", text="c"))
    scenario.control(HeuristicFrozen(heuristic_id="h"))

    mine = rows(scenario, "heuristics")[-1]
    assert columns(mine, "name", "origin", "frozen", "lifecycle") == (
        "renamed",
        "seeded",
        True,
        "frozen",
    )
    history = [
        columns(row, "why", "before", "after")
        for row in rows(scenario, "confidence_changes")
        if row["heuristic_id"] == "h"
    ]
    assert history == [("seed", None, 0.5), ("edit", 0.5, 0.5)]


def test_other_limits_reassess_every_heuristic() -> None:
    """A start with other settings may deprecate what was active."""
    scenario = garden()
    scenario.sense("hello")
    learning = plain_learning(deprecated_below=0.7)
    started: MindStarted = factories.mind_started(learning=learning)
    scenario.control(started, agent=SHARED_AGENT)

    scenarios = [row["lifecycle"] for row in rows(scenario, "heuristics")]
    assert scenarios == ["active", "deprecated"]


def test_a_decision_that_waits_is_completed_or_dropped() -> None:
    """Its row says first that it waits, then what came of it."""
    scenario = Scenario(model=factories.MODEL)
    asked = scenario.sense("a knock at the door", salience=HINTS)
    assert only(scenario, "decisions")["status"] == "pending"

    answered = scenario.wait(1).answer_model(asked, "Shall I look?")
    delivery = next(each for each in answered.outputs if "ask" in each.record.subject)
    scenario.tell(Delivered(ask_id=delivery.id, channel="say"))
    failed = scenario.wait(600).sense("another knock", salience=HINTS)
    scenario.fail_model(failed)

    completed, dropped = rows(scenario, "decisions")
    assert completed["status"] == "spoke"
    assert orjson.loads(str(completed["completion"]))["text"] == "Shall I look?"
    assert dropped["status"] == "dropped"
    assert orjson.loads(str(dropped["completion"]))["reason"] == "llm_no_response"
    answers = [columns(row, "kind", "answer") for row in rows(scenario, "asks")]
    assert answers == [
        ("model", "answered"),
        ("delivery", "delivered"),
        ("model", "no_response"),
    ]
    (session,) = rows(scenario, "sessions")
    assert columns(session, "spoke_count", "silent_count") == (1, 1)


def test_sessions_end_by_a_gap_a_start_or_an_end() -> None:
    """Each says from when to when, and how much happened in it."""
    scenario = Scenario()
    scenario.sense("one")
    scenario.wait(3600).sense("two")
    scenario.wait(1).control(SessionStarted(session_id="s", title="Play"))
    scenario.wait(1).sense("three")
    scenario.wait(1).control(SessionEnded())

    sessions = [
        columns(row, "title", "ended_by", "input_count", "silent_count")
        for row in rows(scenario, "sessions")
    ]
    assert sessions == [("", "gap", 1, 1), ("", "start", 1, 1), ("Play", "end", 3, 1)]


def test_what_cannot_be_read_is_quarantined_with_its_place() -> None:
    """The row names the reason and the sequence at which the log keeps it."""
    scenario = Scenario()
    taken = scenario.sense("x", headers={"ce-schemaversion": "x"})

    row = only(scenario, "quarantine")
    assert columns(row, "reason", "sequence") == ("invalid", taken.input.sequence)


def test_habits_forgotten_are_removed() -> None:
    """The table holds as many sorts of event as the state does."""
    scenario = Scenario()
    for number in range(40):
        scenario.wait(1).sense(f"word{number} thing{number}")

    habits = joined(scenario)["habituation"]
    assert len(habits.puts) == len(scenario.mind.habits["game.vital"])


def test_an_output_names_the_rows_it_made() -> None:
    """A decision's row has the id of its message."""
    scenario = garden()
    advised = scenario.sense(LOW, salience=HINTS)

    (key,) = joined(scenario)["decisions"].puts
    assert key == (scenario.agent, decision_id(advised))
    assert key[1] == next(
        output(advised, type(each.message)).id
        for each in advised.outputs
        if "decided" in each.record.subject
    )


def test_a_race_shows_who_won_and_what_the_loser_cost() -> None:
    """The fire stands at when it was said; the model's answer is late, and was paid for."""
    scenario = garden(model=factories.MODEL, strategy={"name": "hybrid"})
    asked = scenario.sense(LOW)
    won = scenario.wait(0.4).tell(ClockTicked(due_at=scenario.at))
    ask = output(asked, ModelAsked)
    scenario.wait(0.1).tell(
        ModelAnswered(
            ask_id=ask.id, request_hash="r", model="m", text="Hm.", output_tokens=3
        )
    )

    decision, asks = only(scenario, "decisions"), rows(scenario, "asks")
    completion = orjson.loads(str(decision["completion"]))
    assert (decision["status"], completion["path"]) == ("spoke", "heuristic")
    assert completion["winner"].startswith(f"heuristic:{EAT}@")
    assert columns(asks[0], "kind", "answer", "output_tokens") == ("model", "late", 3)
    assert asks[1]["text"] == "Eat something."
    shown = [
        each for each in rows(scenario, "heuristic_fires") if each["mode"] == "shown"
    ]
    assert [each["fired_at"] for each in shown] == [won.outputs[0].at]


def test_what_was_formed_and_endorsed_is_a_row_with_its_history() -> None:
    """A learned heuristic stands beside the others, with every step of its confidence."""
    condition = "the wind blows hard over the fields and the gate is open"
    message = "close the gate before the wind tears it off its old hinges"
    scenario = garden(
        model=factories.MODEL,
        relevance=0.0,
        formation=True,
        endorsement=True,
        withhold=1.0,
    )
    asked = scenario.sense("the wind blows hard")
    scenario.wait(1).answer_model(asked, "Close the gate.")
    rule = {"condition": condition, "type": "warn", "message": message}
    vote = scenario.wait(1).feedback(asked)
    formed = one(
        scenario.answer_model(vote, orjson.dumps(rule).decode()), HeuristicFormed
    )
    for event in (condition, f"{condition} again"):
        scenario.wait(60).answer_model(scenario.sense(event), message)
    again = scenario.wait(60).sense("still the wind blows hard")
    scenario.answer_model(again, "Close it.")
    scenario.answer_model(scenario.feedback(again), orjson.dumps(rule).decode())

    (row,) = [
        each for each in rows(scenario, "heuristics") if each["origin"] == "learned"
    ]
    held = scenario.mind.beliefs[f"{formed.heuristic_id}@{row['content_hash']}"]
    assert (row["confidence"], row["declared"]) == (held.confidence, 0.3)
    assert row["origin_id"] == decision_id(asked)
    steps = [
        (each["why"], each["decision_id"])
        for each in rows(scenario, "confidence_changes")
        if each["heuristic_id"] == formed.heuristic_id
    ]
    assert [why for why, _ in steps] == ["formed", "endorsement", "endorsement", "vote"]
    assert steps[-1][1] == decision_id(again)
    votes = rows(scenario, "feedback_events")
    assert [each["target_type"] for each in votes] == [
        "decision",
        "decision",
        "heuristic",
    ]
