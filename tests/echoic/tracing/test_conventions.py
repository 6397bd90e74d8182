"""The names of a trace agree with OpenTelemetry's own."""

import importlib
import pkgutil

from opentelemetry.semconv import attributes as stable
from opentelemetry.semconv._incubating import attributes as incubating
from opentelemetry.semconv.schemas import Schemas

from echoic.tracing import conventions, steps
from tests.echoic.tracing import samples

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
