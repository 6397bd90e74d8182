"""Which inputs end a trace, and what it says by then."""

from dataclasses import replace

import pytest
from msgspec import structs

from echoic.tracing import spans
from echoic.tracing.naming import Held
from echoic.tracing.observe import Observer
from echoic.tracing.spans import DecisionTrace, FollowUp
from schemas.messages.asks import RecallAsked
from schemas.messages.controls import PackLoaded
from schemas.messages.notes import Handled
from schemas.messages.results import (
    ClockTicked,
    Delivered,
    DeliveryFailed,
    ModelAnswered,
    ModelFailed,
    RecallFailed,
    TriedModel,
)
from schemas.state.agent import AgentState, PartitionState, Remembered
from schemas.values.ids import span_id
from schemas.values.record import moment
from tests.echoic.tracing import samples
from tests.factories import NOON


def test_silence_is_traced_at_once() -> None:
    """A silent decision says why, and is no error."""
    (trace,) = Observer().answered(samples.sensed(("d1", samples.silent())))

    assert isinstance(trace, DecisionTrace)
    assert trace.error is None
    assert trace.tags["echoic.decision.outcome"] == "silent"
    assert trace.tags["echoic.decision.reason"] == "below_relevance"
    assert trace.tags["echoic.summary"] == (
        "crafter.thirst: silent, below_relevance (relevance 0.2, needs 0.5)"
    )


def test_a_delivery_ends_with_its_result() -> None:
    """A decision with words is traced when they are out, with the time that took."""
    observer = Observer()
    group = (("d1", samples.decided()), ("ask-out", samples.delivery_asked("d1")))
    assert list(observer.answered(samples.sensed(*group))) == []

    delivered = Delivered(ask_id="ask-out", channel="console")
    (trace,) = observer.answered(samples.result(delivered, ms=20))

    assert isinstance(trace, DecisionTrace)
    (publish,) = trace.steps
    assert publish.name == "publish out.console"
    assert publish.kind == "producer"
    assert publish.end_ns == samples.START_NS + 20 * samples.MS


def test_a_measured_delivery_begins_when_it_was_taken_up() -> None:
    """Not when it was asked for: the wait is a step of its own before it."""
    observer = Observer()
    group = (("d1", samples.decided()), ("ask-out", samples.delivery_asked("d1")))
    assert list(observer.answered(samples.sensed(*group))) == []

    start_ns = samples.START_NS + 15 * samples.MS
    delivered = Delivered(
        ask_id="ask-out",
        channel="console",
        started_at=moment(start_ns),
        latency_ms=0.75,
    )
    (trace,) = observer.answered(samples.result(delivered, ms=20))

    assert isinstance(trace, DecisionTrace)
    wait, publish = trace.steps
    assert (publish.start_ns, publish.end_ns) == (start_ns, start_ns + 750_000)
    assert (wait.name, wait.end_ns) == ("wait", start_ns)
    assert wait.start_ns == trace.committed_ns


def test_untimed_stages_say_so() -> None:
    """A decision of which only the log is known has stages without times of their own."""
    seen = samples.sensed(("d1", samples.decided()))
    seen = replace(seen, times=structs.replace(seen.times, entered={}))
    (trace,) = Observer().answered(seen)

    assert isinstance(trace, DecisionTrace)
    for place, stage in enumerate(trace.stages):
        assert stage.attributes["echoic.stage.timed"] is False
        # A microsecond apart, so that Jaeger shows them in order.
        start_ns = trace.started_ns + 1_000 * place
        assert (stage.start_ns, stage.end_ns) == (start_ns, trace.decided_ns)


def test_what_a_gate_stopped_was_not_matched() -> None:
    """A trace shows the stages that there were."""
    (trace,) = Observer().answered(samples.sensed(("d1", samples.silent())))

    assert isinstance(trace, DecisionTrace)
    assert [each.name for each in trace.stages] == ["salience", "gate", "messages"]


def test_a_decision_of_a_timer_is_named_after_itself() -> None:
    """No event led to it whose id the trace could have."""
    tick = samples.result(
        ClockTicked(due_at=moment(0)), ("d1", samples.silent()), ms=400
    )
    (trace,) = Observer().answered(tick)

    assert isinstance(trace, DecisionTrace)
    assert trace.event_id == "d1"


def test_late_ends_of_one_input_are_traces_apart() -> None:
    """A tick may end several decisions whose traces were sent."""
    ends = (("x1", samples.dropped("d1")), ("x2", samples.dropped("d2")))
    tick = samples.result(ClockTicked(due_at=moment(0)), *ends, ms=400)
    found = [each for each in Observer().answered(tick) if isinstance(each, FollowUp)]
    roots = [spans.follow_up_spans(each)[0] for each in found]

    assert len({(root.trace_id, root.span_id) for root in roots}) == 2
    assert len({root.trace_id for root in roots}) == 2


def test_a_failed_delivery_is_an_error() -> None:
    """The step says what failed."""
    observer = Observer()
    group = (("d1", samples.decided()), ("ask-out", samples.delivery_asked("d1")))
    assert list(observer.answered(samples.sensed(*group))) == []

    failed = DeliveryFailed(ask_id="ask-out", channel="console", reason="expired")
    (trace,) = observer.answered(samples.result(failed, ms=20))

    assert isinstance(trace, DecisionTrace)
    assert trace.steps[0].error == "expired"
    assert trace.steps[0].attributes["error.type"] == "expired"
    assert trace.tags["echoic.decision.outcome"] == "undelivered"
    assert trace.tags["echoic.decision.reason"] == "expired"
    assert (
        trace.tags["echoic.summary"] == "nobody was told: each delivery failed, expired"
    )


def test_a_model_call_is_part_of_the_decisions_trace() -> None:
    """A decision that waits for a model is traced whole, when the model has answered."""
    observer = Observer()
    group = (("d1", samples.deferred()), ("ask-model", samples.model_asked("d1")))
    assert list(observer.answered(samples.sensed(*group))) == []

    answer = ModelAnswered(
        ask_id="ask-model",
        request_hash="beef",
        model="tiny-1",
        text="There is a lake to the west.",
        input_tokens=30,
        output_tokens=9,
    )
    completed = ("c1", samples.completed("d1"))
    (trace,) = observer.answered(samples.result(answer, completed, ms=800))

    assert isinstance(trace, DecisionTrace)
    chat, complete = trace.steps
    assert chat.end_ns <= complete.end_ns
    assert (chat.name, chat.kind) == ("chat tiny", "client")
    assert chat.attributes["gen_ai.provider.name"] == "ollama"
    assert chat.attributes["gen_ai.usage.input_tokens"] == 30
    assert trace.tags["echoic.decision.outcome"] == "spoke"
    assert trace.tags["echoic.decision.path"] == "llm"


@pytest.mark.parametrize(
    ("server", "place"),
    [
        ("gpu.home:11434", {"server.address": "gpu.home", "server.port": 11434}),
        ("[::1]:8080", {"server.address": "::1", "server.port": 8080}),
        (None, {}),
    ],
)
def test_the_span_of_a_streamed_call_tells_when_its_first_words_came(
    server: str | None, place: dict[str, object]
) -> None:
    """As an event, and by OpenTelemetry's names; with whose answer it is, and from where."""
    answer = ModelAnswered(
        ask_id="ask",
        request_hash="beef",
        model="tiny-1",
        text="West.",
        response_id="chatcmpl-7",
        server=server,
        started_at=moment(samples.START_NS),
        latency_ms=800.0,
        first_part_ms=250.0,
    )
    observer = Observer()
    group = (("d1", samples.deferred()), ("ask", samples.model_asked("d1")))
    assert not list(observer.answered(samples.sensed(*group)))

    (trace,) = observer.answered(
        samples.result(answer, ("c1", samples.completed("d1")), ms=800)
    )

    assert isinstance(trace, DecisionTrace)
    chat = next(each for each in trace.steps if each.name == "chat tiny")
    (first,) = chat.events
    assert (first.name, first.at_ns) == (
        "first part",
        samples.START_NS + 250 * samples.MS,
    )
    told = chat.attributes
    assert told["gen_ai.request.stream"] is True
    assert told["gen_ai.response.time_to_first_chunk"] == 0.25
    assert told["gen_ai.response.id"] == "chatcmpl-7"
    assert {name: told[name] for name in told if name.startswith("server.")} == place


def test_the_span_of_a_chain_names_who_answered_and_who_was_tried() -> None:
    """As an event with the reason."""
    observer = Observer()
    asked = structs.replace(samples.model_asked("d1"), model="chain:openai/a>ollama/b")
    list(observer.answered(samples.sensed(("d1", samples.deferred()), ("ask", asked))))

    answer = ModelAnswered(
        ask_id="ask",
        request_hash="beef",
        model="b-1",
        text="There is a lake to the west.",
        link="ollama/b",
        attempts=(
            TriedModel(
                model="openai/a", reason="timeout", detail="too slow", latency_ms=9.0
            ),
        ),
        started_at=NOON,
        latency_ms=5.0,
    )
    completed = ("c1", samples.completed("d1"))
    (trace,) = observer.answered(samples.result(answer, completed, ms=800))

    assert isinstance(trace, DecisionTrace)
    chat = trace.steps[0]
    assert (chat.name, chat.attributes["gen_ai.provider.name"]) == ("chat b", "ollama")
    (tried,) = chat.events
    assert (tried.name, tried.at_ns) == ("model tried", chat.start_ns)
    assert chat.end_ns - chat.start_ns == 14_000_000
    assert tried.attributes == {
        "gen_ai.request.model": "openai/a",
        "echoic.model.attempt": 1,
        "error.type": "timeout",
        "echoic.model.fault": "too slow",
    }


def test_a_search_of_the_memory_is_part_of_the_trace() -> None:
    """It comes before the call, and its failure is no failure of the decision."""
    observer = Observer()
    search = RecallAsked(
        decision_id="d1", priority=0.5, expires_at=NOON, ttl_s=0.15, query="a lake"
    )
    group = (("d1", samples.deferred()), ("ask-memory", search))
    assert list(observer.answered(samples.sensed(*group))) == []
    failed = RecallFailed(ask_id="ask-memory", reason="timeout", detail="slow")
    then = ("ask-model", samples.model_asked("d1"))
    assert list(observer.answered(samples.result(failed, then, ms=150))) == []
    answer = ModelAnswered(
        ask_id="ask-model", request_hash="beef", model="tiny-1", text="A lake."
    )
    completed = ("c1", samples.completed("d1"))
    (trace,) = observer.answered(samples.result(answer, completed, ms=800))

    assert isinstance(trace, DecisionTrace)
    recall = next(each for each in trace.steps if each.name == "recall")
    assert (recall.kind, recall.error) == ("client", "timeout: slow")
    assert trace.error is None
    assert trace.steps[-1].name == "complete"


def test_a_failed_call_drops_the_decision() -> None:
    """What a decision did not say, and why, is in its tags; the call is an error."""
    observer = Observer()
    group = (("d1", samples.deferred()), ("ask-model", samples.model_asked("d1")))
    assert list(observer.answered(samples.sensed(*group))) == []

    failed = ModelFailed(ask_id="ask-model", request_hash="beef", reason="timeout")
    dropped = ("x1", samples.dropped("d1"))
    (trace,) = observer.answered(samples.result(failed, dropped, ms=30_000))

    assert isinstance(trace, DecisionTrace)
    assert trace.steps[0].error == "timeout"
    assert trace.tags["echoic.decision.outcome"] == "dropped"
    assert trace.tags["echoic.decision.reason"] == "stale"


def test_a_race_is_traced_with_its_winner_and_the_late_loser() -> None:
    """The heuristic has spoken; the model's call is in the trace once it has ended."""
    observer = Observer()
    group = (("d1", samples.deferred()), ("ask-model", samples.model_asked("d1")))
    assert list(observer.answered(samples.sensed(*group))) == []
    arm = f"heuristic:{samples.HEURISTIC}@cafe"
    won = structs.replace(samples.completed("d1"), path="heuristic", winner=arm)
    tick = samples.result(ClockTicked(due_at=moment(0)), ("c1", won), ms=400)
    assert list(observer.answered(tick)) == []

    late = ModelAnswered(
        ask_id="ask-model", request_hash="beef", model="tiny-1", text="A lake."
    )
    handled = ("h1", Handled(reason="late"))
    (trace,) = observer.answered(samples.result(late, handled, ms=800))

    assert isinstance(trace, DecisionTrace)
    assert trace.tags["echoic.race.winner"] == arm
    assert trace.tags["echoic.decision.path"] == "heuristic"
    assert trace.tags["echoic.summary"] == (
        "spoke by heuristic, before ollama/tiny had answered"
    )
    assert [step.name for step in trace.steps] == ["complete", "chat tiny"]


def test_words_are_left_out_unless_allowed() -> None:
    """Neither the event, the prompt nor the answer is in a trace by default."""
    for content in (False, True):
        observer = Observer(content=content)
        group = (("d1", samples.deferred()), ("ask-model", samples.model_asked("d1")))
        assert list(observer.answered(samples.sensed(*group))) == []
        answer = ModelAnswered(
            ask_id="ask-model", request_hash="beef", model="tiny", text="A lake."
        )
        (trace,) = observer.answered(
            samples.result(answer, ("c1", samples.completed("d1")), ms=800)
        )
        said = repr(trace)

        assert content == ("Water is 2 of 9" in said)
        assert content == ("You are Mia." in said)
        assert content == ("There is a lake" in said)


def test_feedback_is_a_trace_of_its_own_with_a_link() -> None:
    """A vote that comes later links to the decision's span and does not stretch it."""
    observer = Observer()
    list(observer.answered(samples.sensed(("d1", samples.decided()))))

    (trace,) = observer.answered(samples.feedback("d1"))

    assert isinstance(trace, FollowUp)
    (link,) = trace.root.links
    assert (samples.TRACE_ID, span_id("d1", "decide", 0)) == (
        link.trace_id,
        link.span_id,
    )
    assert trace.root.attributes["gen_ai.evaluation.score.label"] == "thumbs_down"
    assert trace.root.attributes["echoic.decision.id"] == "d1"
    assert "too late" not in repr(trace)
    assert [step.name for step in trace.steps] == ["learn"]


def test_feedback_on_a_forgotten_decision_has_no_link() -> None:
    """A link that points nowhere is not made."""
    (trace,) = Observer().answered(samples.feedback("long-ago"))

    assert isinstance(trace, FollowUp)
    assert trace.root.links == ()


def test_an_outcome_links_to_its_decision() -> None:
    """The event that shows how advice turned out points back at the advice."""
    observer = Observer()
    list(observer.answered(samples.sensed(("d1", samples.decided()))))

    later = samples.sensed(
        ("d2", samples.silent(event_id="e2")), ("o1", samples.outcome("d1")), id_="e2"
    )
    (trace,) = observer.answered(later)

    assert isinstance(trace, DecisionTrace)
    (step,) = trace.steps
    assert step.name == "outcome"
    assert step.links[0].span_id == span_id("d1", "decide", 0)


def test_the_packs_version_is_known_from_its_load() -> None:
    """A decision is tagged with the version of the pack in force."""
    observer = Observer(packs={"survival": "1.0.0"})
    (before,) = observer.answered(samples.sensed(("d1", samples.silent())))
    loaded = PackLoaded(name="survival", pack_version="1.1.0", digest="00")
    control = samples.answered(
        "ev.0.in._.control.pack_loaded", loaded.to_bytes(), [], id_="load"
    )
    assert list(observer.answered(control)) == []
    (after,) = observer.answered(samples.sensed(("d2", samples.silent())))

    assert isinstance(before, DecisionTrace)
    assert isinstance(after, DecisionTrace)
    assert before.tags["echoic.pack.version"] == "1.0.0"
    assert after.tags["echoic.pack.version"] == "1.1.0"


def test_a_vote_after_a_restart_is_linked_by_what_the_mind_remembers() -> None:
    """An observer that never saw the decision has its event from the state, or the vote."""
    known = Remembered(
        event_id=samples.EVENT_ID, source="crafter", session_id=None, path="heuristic"
    )
    agent = AgentState(decisions=AgentState().decisions.set("d1", known))
    state = PartitionState(agents=PartitionState().agents.set("mia", agent))
    seen = replace(samples.feedback("d1"), held=Held(state, {}))

    (vote,) = Observer().answered(seen)

    assert isinstance(vote, FollowUp)
    assert vote.root.links == (spans.decision_link(samples.EVENT_ID, "d1"),)
