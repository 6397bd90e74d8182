"""The names of a trace agree with OpenTelemetry's own."""

import importlib
import pkgutil
from collections import Counter
from pathlib import Path

from opentelemetry.semconv import attributes as stable
from opentelemetry.semconv._incubating import attributes as incubating
from opentelemetry.semconv.schemas import Schemas

from echoic.tracing import conventions, steps
from echoic.tracing.destinations import Spool
from echoic.tracing.export import open_tracer, spans_of
from echoic.tracing.observe import Observer
from echoic.tracing.sampling import Sampling
from schemas.messages.results import ModelAnswered
from tests.echoic.tracing import samples
from tests.ports import free_port

DEPRECATED = {
    "gen_ai.system",
    "gen_ai.prompt",
    "gen_ai.completion",
    "gen_ai.usage.prompt_tokens",
    "gen_ai.usage.completion_tokens",
    "messaging.operation",
}


def our_names() -> set[str]:
    """Every attribute name of the module, spans and values aside."""
    constants = (
        value
        for name, value in vars(conventions).items()
        if name.isupper() and isinstance(value, str)
    )
    return {value for value in constants if "." in value and "/" not in value}


def their_names() -> set[str]:
    """Every attribute name of the installed conventions."""
    names: set[str] = set()
    for package in (stable, incubating):
        for module in pkgutil.iter_modules(package.__path__):
            found = importlib.import_module(f"{package.__name__}.{module.name}")
            names |= {value for value in vars(found).values() if isinstance(value, str)}
    return names


def test_foreign_names_are_open_telemetrys() -> None:
    """What does not begin with `echoic.` is a name of the installed conventions."""
    foreign = {name for name in our_names() if not name.startswith("echoic.")}

    assert foreign
    assert set() == foreign - their_names()
    assert set() == foreign & DEPRECATED


def test_schema_is_the_installed_one() -> None:
    """The schema that spans refer to is the one the names were compared with."""
    assert Schemas.V1_44_0.value == conventions.SCHEMA_URL


def test_few_span_names() -> None:
    """A span's name is one of a closed grammar, without any id."""
    good = [
        conventions.chat_name("tiny"),
        conventions.publish_name("console"),
        conventions.DECIDE,
        *(stage.name for stage in steps.stages(samples.decided(), samples.times())),
    ]

    assert all(conventions.SPAN_NAMES.fullmatch(name) for name in good)
    assert conventions.SPAN_NAMES.fullmatch("decide 42") is None


def test_a_models_call_says_what_the_log_knows_of_it() -> None:
    """By the conventions of generative AI; what is not recorded is left out."""
    observer = Observer()
    group = (("d1", samples.deferred()), ("ask-model", samples.model_asked("d1")))
    list(observer.answered(samples.sensed(*group)))
    answer = ModelAnswered(
        ask_id="ask-model",
        request_hash="beef",
        model="tiny-2026",
        text="A lake.",
        finish_reason="stop",
        input_tokens=30,
        output_tokens=9,
        cost_usd=0.002,
    )
    ended = samples.result(answer, ("c1", samples.completed("d1")), ms=800)
    (trace,) = observer.answered(ended)
    (chat,) = [each for each in spans_of(trace) if each.kind == "client"]
    said = chat.attributes

    assert chat.name == "chat tiny"
    assert said["gen_ai.response.model"] == "tiny-2026"
    assert said["gen_ai.response.finish_reasons"] == ("stop",)
    assert said["gen_ai.conversation.id"] == "game-1"
    assert said["echoic.model.cost_usd"] == 0.002
    assert not {"gen_ai.response.id", "server.address"} & said.keys()


def test_a_drawn_silence_says_of_how_many_it_is_one(tmp_path: Path) -> None:
    """So that a count of traces can be scaled; what is always traced stands for itself."""
    tracer = open_tracer(
        f"http://127.0.0.1:{free_port()}",
        {},
        spool=tmp_path / "t.jsonl",
        notify=lambda _: None,
        sampling=Sampling("ratio", 0.5),
    )
    assert tracer is not None
    for number in range(20):
        tracer.answered(samples.sensed((f"s{number}", samples.silent())))
    tracer.answered(samples.sensed(("d1", samples.decided())))
    tracer.close()
    shares = Counter(
        span.attributes["echoic.sampling.ratio"]
        for _, spans in Spool(tmp_path / "t.jsonl").batches()
        for span in spans
        if span.name == "decide"
    )

    assert shares == {0.5: 20 - tracer.thinned, 1.0: 1}
    assert 0 < tracer.thinned < 20
