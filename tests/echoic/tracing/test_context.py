"""The context that a model or a channel is told is that of the exported span."""

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from echoic.tracing.export import spans_of
from echoic.tracing.observe import Observer
from echoic.tracing.recorded import recorded_traces
from echoic.tracing.spans import FollowUp, follow_up_spans
from handlers.effects import perform
from handlers.effects.delivery import _headers
from replay.recording.source import from_file
from schemas.codec.decode import read_output
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.values import ids
from schemas.values.subjects import parse
from streams.session_files.file import read_session
from streams.session_files.memory_log import SessionLog
from tests.echoic.tracing import samples

PACKS = Path(__file__).parents[3] / "packs"


@pytest.mark.parametrize(
    "file", ["survival/recording/explored.echoic", "home/recording/told.echoic"]
)
async def test_who_is_asked_is_told_of_the_exported_span(file: str) -> None:
    """Each call and each delivery of a recording, whatever the name of its model."""
    path = PACKS / file
    session = read_session(path)
    log = SessionLog(session)
    exported = {
        (span.trace_id, span.span_id)
        async for trace in recorded_traces(from_file(path))
        for span in spans_of(trace)
    }
    answered = {
        ask_id
        for record in session.records
        if parse(record.subject).kind == "result"
        for ask_id in [samples.ask_of(record)]
    }
    told = set()
    for record in session.records:
        if parse(record.subject).detail not in ("model_asked", "delivery_asked"):
            continue
        output = read_output(record)
        asked = output.message
        if output.id not in answered:
            continue
        if isinstance(asked, ModelAsked):
            context = await perform.traceparent(log, output, asked)
        else:
            assert isinstance(asked, DeliveryAsked)
            context = _headers(output.id, asked)["traceparent"]
        _, trace_id, span_id, _ = context.split("-")
        told.add((trace_id, span_id))

    assert told
    assert told <= exported


@pytest.mark.parametrize("failed", [False, True])
def test_a_votes_own_call_is_traced_with_it(failed: bool) -> None:
    """It costs as much as any other, and stands within the trace of the vote."""
    observer = Observer()
    asked = samples.feedback("d1")
    (output, *_) = asked.outputs
    formation = structs.replace(samples.model_asked("d1"), purpose="formation")
    vote = samples.answered(
        asked.input.record.subject,
        asked.input.record.body,
        [("applied", output.message), ("formed", formation)],
        id_="vote-1",
    )
    (feedback,) = observer.answered(vote)
    result = (
        ModelFailed(ask_id="formed", request_hash="h", reason="timeout")
        if failed
        else ModelAnswered(ask_id="formed", request_hash="h", model="m", text="Drink.")
    )

    (chat,) = observer.answered(samples.result(result, ms=50))

    assert isinstance(feedback, FollowUp)
    assert isinstance(chat, FollowUp)
    root, *_ = follow_up_spans(feedback)
    (span,) = follow_up_spans(chat)
    assert span.name == "chat tiny"
    assert (span.trace_id, span.parent) == (root.trace_id, root.span_id)
    assert span.span_id == ids.ask_span_id("formed")


@pytest.mark.parametrize("content", [True, False])
def test_a_trace_says_whose_event_it_was_and_what_came_of_it(content: bool) -> None:
    """By name where traces stay in the house, by a hash elsewhere; on root and `decide`."""
    seen = samples.sensed(("d1", samples.silent()))
    told = structs.replace(seen.input.message, person="mia")
    entry = structs.replace(seen.input, message=told)

    (trace,) = Observer(content=content).answered(replace(seen, input=entry))
    found = {span.name: span.attributes for span in spans_of(trace)}

    for span in (found["thirst"], found["decide"]):
        assert (span.get("user.id") == "mia") == content
        assert ("user.hash" in span) != content
        assert "mia" not in str(span.get("user.hash"))
        assert span["echoic.decision.outcome"] == "silent"
    published = found["thirst"]["messaging.destination.name"]
    assert published == "in.mia.crafter.thirst"
