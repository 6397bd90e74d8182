"""A decision's trace: its ids, its tree and its times."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from echoic.tracing.observe import Observer
from echoic.tracing.spans import GAP_NS, DecisionTrace, SpanData, decision_spans
from tests.echoic.tracing import samples


def a_trace(**headers: str) -> DecisionTrace:
    """The trace of a decision that is final at once."""
    seen = samples.sensed(("d1", samples.decided()), headers=headers)
    (trace,) = Observer().answered(seen)
    assert isinstance(trace, DecisionTrace)
    return trace


def by_name(spans: tuple[SpanData, ...]) -> dict[str, SpanData]:
    """Spans by name, which are different in these tests."""
    return {span.name: span for span in spans}


def test_trace_is_named_after_its_event() -> None:
    """An event's id, when it is a UUID, is the id of the trace."""
    spans = decision_spans(a_trace())

    assert {samples.TRACE_ID} == {span.trace_id for span in spans}


def test_no_trace_is_all_zeros() -> None:
    """The nil UUID, which no trace may be named after, is hashed like a foreign id."""
    spans = decision_spans(replace(a_trace(), event_id=str(UUID(int=0))))

    assert all(int(span.trace_id, 16) for span in spans)


def test_tree() -> None:
    """The event waits, is decided on in stages, and what was decided is written."""
    spans = by_name(decision_spans(a_trace()))
    parents = {
        name: next((p.name for p in spans.values() if p.span_id == span.parent), None)
        for name, span in spans.items()
    }

    assert parents == {
        "thirst": None,
        "process": "thirst",
        "queue": "process",
        "decide": "process",
        "salience": "decide",
        "gate": "decide",
        "match": "decide",
        "choose": "decide",
        "messages": "decide",
        "commit": "process",
    }


def test_the_root_is_its_sources() -> None:
    """The event is shown as its source's, what was done about it as the engine's."""
    root, *others = decision_spans(a_trace())

    assert (root.service, root.kind) == ("crafter", "producer")
    assert {None} == {span.service for span in others}
    (process,) = [each for each in others if each.parent == root.span_id]
    assert (process.name, process.kind) == ("process", "consumer")
    assert process.attributes["messaging.operation.type"] == "process"
    for shared in ("messaging.system", "messaging.message.id"):
        assert process.attributes[shared] == root.attributes[shared]


def test_stages_follow_one_another() -> None:
    """Each has a time of its own within `decide`, as the worker's clock told it."""
    spans = by_name(decision_spans(a_trace()))
    stages = [spans[each] for each in ("salience", "gate", "match", "choose")]
    tenth = samples.MS // 10

    assert {each.end_ns + GAP_NS - each.start_ns for each in stages} == {tenth}
    # How a model would be asked is prepared between gate and match.
    assert spans["match"].start_ns - spans["gate"].end_ns == tenth + GAP_NS
    assert spans["messages"].start_ns == spans["choose"].end_ns + GAP_NS
    assert spans["messages"].end_ns == spans["decide"].end_ns
    assert not [each for each in stages if "echoic.stage.timed" in each.attributes]


def test_each_stage_shows_what_it_found() -> None:
    """Gates stand where they were tested, candidates where they were found."""
    spans = by_name(decision_spans(a_trace()))
    found = {
        name: [(each.name, each.at_ns == span.end_ns) for each in span.events]
        for name, span in spans.items()
        if span.parent == spans["decide"].span_id
    }

    assert found == {
        "salience": [],
        "gate": [("relevance", True)],
        "match": [("candidate", True)],
        "choose": [("arm", True), ("confidence", True)],
        "messages": [],
    }


def test_a_commit_shows_its_wait() -> None:
    """A group waits for the write before its own."""
    commit = by_name(decision_spans(a_trace()))["commit"]

    (begun,) = commit.events
    assert (begun.name, begun.at_ns) == (
        "write begun",
        samples.START_NS + 4 * samples.MS,
    )


def test_same_event_same_spans() -> None:
    """Nothing in a trace is drawn at random."""
    assert decision_spans(a_trace()) == decision_spans(a_trace())


def test_span_ids_differ_between_agents() -> None:
    """Two agents that hear one event share a trace and no span."""
    ours = decision_spans(a_trace())
    theirs = decision_spans(replace(a_trace(), decision_id="d2"))

    assert not {span.span_id for span in ours} & {span.span_id for span in theirs}


def test_sensors_span_of_this_trace_is_the_parent() -> None:
    """A sensor that traces under the event's id becomes the root's parent."""
    root, *_ = decision_spans(
        a_trace(traceparent=f"00-{samples.TRACE_ID}-00f067aa0ba902b7-01")
    )

    assert root.parent == "00f067aa0ba902b7"
    assert root.links == ()


def test_sensors_span_of_another_trace_is_a_link() -> None:
    """A sensor that traces under an id of its own is linked to."""
    other = "4bf92f3577b34da6a3ce929d0e0e4736"
    root, *_ = decision_spans(a_trace(traceparent=f"00-{other}-00f067aa0ba902b7-01"))

    assert root.parent is None
    assert [(other, "00f067aa0ba902b7")] == [
        (link.trace_id, link.span_id) for link in root.links
    ]


def test_broken_context_of_a_sensor_is_ignored() -> None:
    """Neither nonsense nor all zeros nor what was not recorded is a parent or a link."""
    unrecorded = f"00-{samples.TRACE_ID}-00f067aa0ba902b7-00"
    for broken in ("nonsense", f"00-{'0' * 32}-{'0' * 16}-01", unrecorded):
        root, *_ = decision_spans(a_trace(traceparent=broken))
        assert (root.parent, root.links) == (None, ())


moments = st.integers(min_value=1, max_value=10**6)


@given(moments, moments, moments, moments, moments)
def test_children_lie_within_their_parents(
    received: int, picked_up: int, started: int, deciding: int, writing: int
) -> None:
    """Whatever the clocks of broker and worker say, the tree is consistent."""
    trace = replace(
        a_trace(),
        received_ns=received,
        picked_up_ns=picked_up,
        started_ns=started,
        decided_ns=started + deciding,
        writing_ns=received,
        committed_ns=started + deciding + writing,
    )
    spans = {span.span_id: span for span in decision_spans(trace)}
    for span in spans.values():
        parent = spans.get(span.parent or "", span)

        assert parent.start_ns <= span.start_ns < span.end_ns <= parent.end_ns
        assert all(span.start_ns <= e.at_ns <= span.end_ns for e in span.events)
