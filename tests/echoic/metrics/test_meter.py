"""What a worker answered, as metrics."""

import base64
import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from immutables import Map
from prometheus_client import CollectorRegistry

from echoic.metrics import catalogue
from echoic.metrics.catalogue import METRICS, OTHER, WORKER
from echoic.metrics.meter import REST, Meter
from echoic.metrics.reports import samples_of
from echoic.metrics.series import Series
from schemas.codec.catalogue import OutputMessage
from schemas.messages.learning import AdviceIgnored, FeedbackRefused, OutcomeExpired
from schemas.messages.notes import Quarantined, TimerFailed
from schemas.state.agent import AgentState, PartitionState
from schemas.state.taught import Shelf, Taught
from schemas.values import subjects
from streams.errors import Fenced, LogUnavailable
from tests.echoic.metrics.samples import a_bit_of_everything, timed, values
from tests.echoic.tracing import samples

LE = {"le"}


def test_each_decision_counts_once_when_it_is_final() -> None:
    """One that waits for a model counts when it is answered or dropped, by its path."""
    meter = Meter()

    meter.observe(a_bit_of_everything())

    found = values(meter)
    decisions = {key[1:]: n for key, n in found.items() if key[0] == _DECISIONS}
    assert decisions == {
        ("heuristic", "spoke", "none"): 1,
        ("none", "silent", "below_relevance"): 1,
        ("none", "silent", "error"): 1,
        ("llm", "spoke", "none"): 1,
        ("llm", "dropped", "stale"): 1,
    }
    assert found["echoic_decide_seconds_count", "llm"] == 2
    assert found["echoic_faults_total", "mind"] == 1


_DECISIONS = "echoic_decisions_total"


def test_times_are_those_of_the_worker_and_the_broker() -> None:
    """Seconds: in the queue 2 ms, decided in 1, written in 1, the model's answer 0.8 s."""
    meter = Meter()

    meter.observe(a_bit_of_everything()[:1])
    meter.observe(a_bit_of_everything()[3:6])

    found = values(meter)
    assert found["echoic_queue_delay_seconds_sum",] == pytest.approx(3 * 0.002)
    assert found["echoic_decide_seconds_sum", "heuristic"] == pytest.approx(0.001)
    assert found["echoic_commit_seconds_count",] == 2  # one a write
    assert found["echoic_commit_seconds_sum",] == pytest.approx(2 * 0.001)
    assert found["echoic_answer_seconds_sum", "heuristic"] == pytest.approx(0.005)
    assert found["echoic_answer_seconds_sum", "llm"] == pytest.approx(0.805)
    assert found["echoic_model_seconds_sum",] == pytest.approx(0.8)


def test_models_deliveries_votes_and_outcomes_count() -> None:
    """Each by how it ended."""
    meter = Meter()

    meter.observe(a_bit_of_everything())

    found = values(meter)
    expected = {
        ("echoic_model_calls_total", "answered"): 1,
        ("echoic_model_calls_total", "timeout"): 1,
        ("echoic_model_tokens_total", "input"): 30,
        ("echoic_model_tokens_total", "output"): 9,
        ("echoic_model_cost_dollars_total",): 0.002,
        ("echoic_deliveries_total", "delivered"): 1,
        ("echoic_deliveries_total", "expired"): 1,
        ("echoic_feedback_total", "negative", "overall"): 1,
        ("echoic_outcomes_total", "success"): 1,
        ("echoic_inputs_total", "sensor"): 5,
        ("echoic_inputs_total", "result"): 4,
        ("echoic_inputs_total", "feedback"): 1,
        ("echoic_answered_sequence",): 7,
    }
    assert {key: found.get(key) for key in expected} == expected


def test_what_goes_wrong_counts_by_its_reason() -> None:
    """Quarantine and shed load, refused votes, late outcomes, timers, lost writes."""
    meter = Meter()
    of_fire = {
        "fire_id": "f1", "decision_id": "d1", "heuristic_id": "h1", "content_hash": "c1",
    }  # fmt: skip
    said: tuple[OutputMessage, ...] = (
        Quarantined(reason="rate", detail="", subject="in.mia.x.y"),
        Quarantined(reason="error", detail="", subject="in.mia.x.y"),
        TimerFailed(timer_id="t1", purpose="sleep", detail="ValueError"),
        FeedbackRefused(reason="unknown_decision", detail=""),
        OutcomeExpired(**of_fire),
        AdviceIgnored(**of_fire, count=3),
    )

    meter.observe([timed(samples.sensed(*((str(n), m) for n, m in enumerate(said))))])
    meter.failed(Fenced(3, 40))
    meter.failed(LogUnavailable("the broker is away"))
    meter.failed(MemoryError())

    found = values(meter)
    assert found["echoic_quarantined_total", "rate"] == 1
    assert found["echoic_quarantined_total", "error"] == 1
    assert found["echoic_feedback_refused_total", "unknown_decision"] == 1
    assert found["echoic_outcomes_total", "expired"] == 1
    assert found["echoic_outcomes_total", "ignored"] == 1
    faults = {key[1] for key in found if key[0] == "echoic_faults_total"}
    assert faults == {"mind", "timer", "fenced", "log_unavailable", "process"}


def test_heuristics_in_force_are_those_of_the_latest_state() -> None:
    """They are counted when somebody asks, by where they are from."""
    taught = Taught(
        heuristic_id="h1", name="drink", domain="survival", condition="thirsty", when=None,
        response_type="suggestion", text="Drink.", action=None, confidence=0.5, urgency=0.0,
        content_hash="c1", vector=b"",
    )  # fmt: skip
    shelf = Shelf(Map({"h1": taught}))
    agent = AgentState(shelves=Map({"survival": shelf}))
    meter = Meter()

    meter.observe([timed(samples.sensed(("d1", samples.decided())))])
    state = PartitionState(agents=Map({"mia": agent, "tom": AgentState()}))
    meter.observe([timed(samples.sensed(("d2", samples.decided())), state)])

    found = values(meter)
    assert found["echoic_heuristics", "seeded"] == 1
    assert found["echoic_agents",] == 2


def test_every_label_value_is_of_its_closed_list() -> None:
    """Whatever was answered, the labels say nothing that the catalogue does not list."""
    meter = Meter()

    meter.observe(a_bit_of_everything())

    allowed = {each.name: each.labels for each in METRICS}
    for family, name, labels, _ in samples_of(meter):
        lists = allowed.get(family) or allowed.get(f"{family}_total") or {}
        assert set(labels) - LE == set(lists), name
        assert all(labels[each] in lists[each] for each in lists), labels


@given(st.lists(st.tuples(*[st.text(max_size=30)] * 6), min_size=1, max_size=30))
def test_a_hostile_sensor_adds_no_series(events: list[tuple[str, ...]]) -> None:
    """Sources, types, ids, texts, fields and agents are the sensor's; series are ours."""
    meter = Meter()
    meter.observe([timed(samples.sensed(("d1", samples.decided())))])
    before = {(name, *labels.values()) for _, name, labels, _ in samples_of(meter)}

    for source, type_, id_, text, domain, comment in events:
        body = json.dumps({"text": text, "fields": {comment: text}}).encode()
        agent = "a" + base64.b32encode(source.encode()).decode().strip("=")[:20]
        subject = subjects.input_subject(0, agent, "sensor", "crafter.thirst")
        said = samples.decided(
            source=source or "s", type=type_ or "t", event_id=id_ or "e",
            domain=domain or "d", text=text or "x",
        )  # fmt: skip
        seen = samples.answered(subject, body, [("d", said)], id_=id_ or "e")
        meter.observe([timed(seen)])

    after = {(name, *labels.values()) for _, name, labels, _ in samples_of(meter)}
    assert after == before


def test_a_value_of_no_list_counts_as_other() -> None:
    """And takes no memory of its own, however many there are."""
    series = Series(catalogue.QUARANTINED, registry := CollectorRegistry())

    for number in range(1_000):
        series(1, f"made up {number}")

    (family,) = registry.collect()
    counted = [s for s in family.samples if s.name.endswith("_total")]
    assert [(s.labels, s.value) for s in counted] == [({"reason": OTHER}, 1_000)]
    assert len(series._acts) == 1


def test_agents_have_series_only_up_to_the_bound() -> None:
    """The first few are named, the others count together; by default none is."""
    silent, named = Meter(), Meter(agents=2)
    for number in range(5):
        subject = subjects.input_subject(0, f"agent{number}", "sensor", "crafter.x")
        seen = samples.answered(subject, b'{"text": "x"}', [("d", samples.decided())])
        silent.observe([timed(seen)])
        named.observe([timed(seen)])

    name = catalogue.AGENT_DECISIONS.name
    assert not [key for key in values(silent) if key[0] == name]
    assert {key[1]: n for key, n in values(named).items() if key[0] == name} == {
        "agent0": 1,
        "agent1": 1,
        REST: 3,
    }
    assert not subjects.is_agent(REST)


def test_names_and_units_follow_prometheus() -> None:
    """Counters end in `_total`, times are in seconds, and each has a meaning."""
    for each in METRICS:
        assert each.name.startswith("echoic_")
        assert each.name.endswith("_total") is (each.kind == "counter"), each.name
        assert each.meaning.endswith(".")
        assert list(each.buckets) == sorted(set(each.buckets))
        assert bool(each.buckets) is (each.kind == "histogram")


def test_the_number_of_series_is_bounded_and_small() -> None:
    """All values of all labels together, of one process."""
    most = 0
    for each in WORKER:
        series = 1
        for allowed in each.labels.values():
            series *= len(allowed) + 1
        most += series * (len(each.buckets) + 3)

    assert most < 6_000


def test_what_is_in_no_trace_is_counted() -> None:
    """By why it is not, each thing once however often somebody looks."""
    meter = Meter()
    tracer = SimpleNamespace(thinned=3, dropped=1, dropped_silent=0)
    meter.watch(tracer)
    meter.look()
    tracer.thinned = 5
    meter.look()
    meter.look()

    def counted(why: str) -> float | None:
        return meter.registry.get_sample_value("echoic_untraced_total", {"why": why})

    assert [counted(why) for why in ("thinned", "dropped", "silent")] == [5, 1, 0]
