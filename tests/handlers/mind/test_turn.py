"""Turns: what both drivers of the mind share, as bytes."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.mind import turn as turns
from handlers.mind.needs import Needs, needs_of
from projections.folds import agent as agent_fold
from projections.folds.fold_context import FoldContext
from projections.folds.partition import evolve, fold_recorded, linked
from schemas.codec.decode import UnreadableOutputError, read_input
from schemas.codec.envelope import Input
from schemas.messages.controls import GoalsSet, HeuristicEdited, HeuristicSeeded
from schemas.messages.decisions import Decided
from schemas.messages.learning import FeedbackRefused
from schemas.messages.notes import ControlApplied
from schemas.messages.results import ClockTicked, ModelAnswered
from schemas.ports.aids import Aids
from schemas.ports.faults import MissingPackError
from schemas.state.agent import AgentState, PartitionState, SharedState
from schemas.values.record import Record
from schemas.values.subjects import SHARED_AGENT
from tests import factories
from tests.factories import embed, heuristic, pack, pack_loaded, pattern, sensor_record
from tests.scenario import Scenario, one


def an_input(message: object) -> Input:
    """An input of this message."""
    read = read_input(sensor_record(b"x"))
    return Input(read.record, read.partition, "ana", "i", read.at, message)  # type: ignore[arg-type]


def test_the_shell_brings_what_an_input_needs() -> None:
    """A text to embed, or the pack that is being loaded; mostly nothing."""
    garden = pack()
    seeded = HeuristicSeeded(
        heuristic_id="h", name="n", domain="d", condition="dusk", text="Sleep."
    )

    assert needs_of(read_input(sensor_record(b"dusk"))) == Needs(text="dusk")
    assert needs_of(read_input(sensor_record(b"\xff"))) == Needs()
    assert needs_of(an_input(seeded)) == Needs(text="dusk", further=("Sleep.",))
    edited = HeuristicEdited(heuristic_id="h", condition="dawn")
    assert needs_of(an_input(edited)) == Needs(text="dawn")
    assert needs_of(an_input(HeuristicEdited(heuristic_id="h"))) == Needs()
    reworded = HeuristicEdited(heuristic_id="h", text="Rise.")
    assert needs_of(an_input(reworded)) == Needs(further=("Rise.",))
    said = ModelAnswered(ask_id="a", request_hash="r", model="m", text="Sleep well. ")
    assert needs_of(an_input(said)) == Needs(further=("Sleep well.",))
    assert needs_of(an_input(pack_loaded(garden))) == Needs(pack_digest=garden.digest)
    assert needs_of(an_input(GoalsSet(goals=()))) == Needs()


def test_a_pack_in_force_must_be_at_hand() -> None:
    """Without it the log cannot be read, and nothing is guessed."""
    scenario = Scenario(pack())
    scenario.blobs = {}

    with pytest.raises(MissingPackError, match="garden"):
        scenario.sense("x")


def test_a_damaged_recording_is_not_folded() -> None:
    """An output that is not ours stops the fold."""
    turn = Scenario().sense("x")
    broken = Record("ev.5.out.ana.note.handled", {}, b"{}", 2, 0)

    with pytest.raises(UnreadableOutputError):
        fold_recorded(PartitionState(), turn.input, [broken], Aids())


def test_the_chain_covers_the_input_and_each_output() -> None:
    """A changed comment, a dropped or a swapped output shows."""
    turn = Scenario(pack(heuristic("h", "dusk", "Sleep."))).sense("dusk")
    read, outputs = turn.input, turn.outputs
    record = read.record
    others = [
        Record(record.subject, record.headers, b'{"text":"dawn"}', 1, 0),
        Record(record.subject, {"ce-id": "other"}, record.body, 1, 0),
        Record(record.subject + "x", record.headers, record.body, 1, 0),
    ]
    chains = {
        linked("", read, outputs),
        linked("x", read, outputs),
        linked("", read, outputs[:-1]),
        linked("", read, outputs[::-1]),
        *(
            linked("", Input(each, 5, "ana", "i", read.at, read.message), outputs)
            for each in others
        ),
    }

    assert len(chains) == 7


def test_the_chain_leaves_out_what_the_broker_adds() -> None:
    """Trace context and the broker's own headers are not compared."""
    turn = Scenario().sense("dusk")
    record = turn.input.record
    headers = {**record.headers, "traceparent": "00-1-1-01", "Nats-Msg-Id": "x"}
    same = Record(record.subject, headers, record.body, 99, 99)
    other = Input(same, 5, "ana", "i", turn.input.at, turn.input.message)

    assert linked("", other, turn.outputs) == linked("", turn.input, turn.outputs)


def test_each_decision_carries_the_chain_before_it() -> None:
    """Up to and with the agent's previous group."""
    scenario = Scenario()
    assert scenario.decide("a").chain == ""
    before = scenario.mind.chain
    assert before != ""

    assert scenario.decide("b").chain == before


def test_a_vector_that_others_could_not_compute_is_recorded() -> None:
    """A replay takes it from there."""
    scenario = Scenario()
    assert scenario.decide("dusk").embedding is None
    scenario.is_exact = False
    recorded = scenario.decide("dawn").embedding
    scenario.vectorless = True

    assert recorded is not None
    assert base64.b64decode(recorded) == embed("dawn")
    assert scenario.decide("noon").embedding is None


def test_a_shared_control_of_an_agent_changes_nothing() -> None:
    """The fold makes of a recording what the mind would."""
    scenario = Scenario()
    turn = scenario.control(GoalsSet(goals=("x",)))
    shared = Input(
        turn.input.record, 5, "_", "i", turn.input.at, GoalsSet(goals=("x",))
    )
    assert isinstance(turn.outputs[0].message, ControlApplied)
    state = evolve(scenario.state, shared, turn.outputs, Aids())

    assert state.shared.settings == scenario.state.shared.settings
    assert state.shared.chain != scenario.state.shared.chain


def test_a_decision_without_an_event_is_remembered_alone() -> None:
    """An occasion that no sensor brought leaves no event behind."""
    decided = one(Scenario().sense("dusk"), Decided)
    tick = an_input(ClockTicked(due_at=factories.NOON))
    scene = FoldContext(
        shared=SharedState(),
        agent=AgentState(),
        input=tick,
        aids=Aids(),
        now=factories.NOON,
    )
    state = agent_fold.said(AgentState(), scene, "d1", decided)

    assert state.decisions.get("d1") is not None
    assert len(state.sources) == 0


GARDEN = pack(
    heuristic("low", "health low", "Drink."),
    heuristic("dusk", "dusk falls", "Sleep.", confidence=0.5),
    patterns=[pattern("health", "dusk falls", 40), pattern("dusk", "health", 5)],
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["ana", "bo", "cy"]),
        st.sampled_from(["health low", "dusk falls", "vote", "answer", "goals"]),
        st.sampled_from([0.0, 1.0, 30.0, 100.0]),
    ),
    max_size=10,
)


def live(scenario: Scenario, agent: str, step: str) -> None:
    """Let one thing happen to an agent."""
    scenario.agent = agent
    mine = [turn for turn in scenario.turns if turn.input.agent == agent]
    asked = [each for turn in mine for each in turn.outputs]
    match step:
        case "vote":
            decided = [o.id for o in asked if isinstance(o.message, Decided)]
            scenario.feedback(decided[-1] if decided else "nobody", "negative")
        case "answer":
            pending = sorted(scenario.mind.pending)
            for turn in mine:
                if pending and pending[0] in {each.id for each in turn.outputs}:
                    scenario.answer_model(turn)
                    return
        case "goals":
            scenario.control(GoalsSet(goals=(str(len(mine)),)))
        case text:
            scenario.sense(text, salience={"threat": 0.9})


@given(STEPS)
def test_agents_do_not_touch_each_other(steps: list[tuple[str, str, float]]) -> None:
    """Without the others' inputs, an agent's chain is the same."""
    scenario = Scenario(GARDEN, model=factories.MODEL)
    for agent, step, pause in steps:
        live(scenario.wait(pause), agent, step)

    for agent in sorted(scenario.state.agents):
        state = PartitionState()
        for turn in scenario.turns:
            if turn.input.agent in (agent, SHARED_AGENT):
                aids = scenario.aids_of(turn.input)
                state = turns.answer(state, turn.input, aids, factories.EPOCH).state
        assert state.agents[agent] == scenario.state.agents[agent]


@given(STEPS)
def test_the_same_inputs_make_the_same_bytes(
    steps: list[tuple[str, str, float]],
) -> None:
    """Twice the same scenario gives the same chain; `Scenario` checks each turn for itself."""
    scenarios = [Scenario(GARDEN, model=factories.MODEL) for _ in range(2)]
    for scenario in scenarios:
        for agent, step, pause in steps:
            live(scenario.wait(pause), agent, step)

    chains = [
        [
            (agent, scenario.state.agents[agent].chain)
            for agent in sorted(scenario.state.agents)
        ]
        for scenario in scenarios
    ]
    assert chains[0] == chains[1]


def test_a_decision_is_its_agents_own() -> None:
    """Another agent has never heard of it."""
    scenario = Scenario()
    turn = scenario.sense("dusk")
    scenario.agent = "bo"

    assert one(scenario.feedback(turn), FeedbackRefused).reason == "unknown_decision"
