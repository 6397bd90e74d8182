"""The contract of speech, against a real broker and a real command."""

import json
import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from msgspec import structs
from nats.aio.msg import Msg

from handlers.broker import faststream_broker, start
from handlers.effects import results as effect_results
from handlers.effects import speech
from handlers.effects.perform import Performer
from handlers.effects.speech import Speaker, SpeechCommand
from handlers.effects.subscribers import Effects
from schemas.messages.asks import DeliveryAsked, StopAsked
from schemas.messages.results import DeliveryBegun
from schemas.values.record import Record
from streams.jetstream.consumers import prepare_consumers
from streams.log import append_input
from tests.handlers.effects.test_effects import (
    ADA,
    NOON,
    PARTITION,
    ask,
    delivery_asked,
    results,
)
from tests.minds import until
from tests.servers import Broker

pytestmark = pytest.mark.services

SCRIPT = Path(__file__).with_name("speaker.py")


class Stage:
    """Where a speaker of ours speaks: what it said is on the score."""

    def __init__(self, folder: Path) -> None:
        self.score = folder / "score"

    def command(self, *arguments: str) -> SpeechCommand:
        """The command line, the words by standard input unless an argument has them."""
        given = " ".join(arguments)
        return SpeechCommand(f"{sys.executable} {SCRIPT} {self.score} {given}")

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What the script wrote down."""
        if not self.score.exists():
            return []
        return [json.loads(line) for line in self.score.read_text().splitlines()]

    @property
    def said(self) -> list[tuple[str, str]]:
        """What began and ended, in order."""
        return [(line["what"], line["words"]) for line in self.lines]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A stage of one's own."""
    return Stage(tmp_path)


@asynccontextmanager
async def speaking(
    broker: Broker, command: SpeechCommand | None
) -> AsyncIterator[Effects]:
    """Effects with a speech channel, for the length of the block."""
    await prepare_consumers(broker.client)
    subscriber = faststream_broker(broker.server.core)
    performer = Performer(
        broker.reader,
        broker.writer,
        broker.client,
        None,
        speaker=Speaker(command) if command is not None else None,
    )
    effects = Effects(performer)
    effects.subscribe(subscriber)
    await start(subscriber)
    try:
        async with effects.serving():
            yield effects
    finally:
        await subscriber.stop()


def speech_asked(text: str, type_: Any = "observation", **fields: Any) -> DeliveryAsked:
    """An ask to speak."""
    return structs.replace(
        delivery_asked(text, priority=0.9 if type_ == "alert" else 0.5),
        **{
            "response_type": type_,
            "channel": "speech",
            "output": "speech",
            "fallback_channel": "say",
            "speed": 1.0,
            **fields,
        },
    )


def story(records: Sequence[Record]) -> list[tuple[str, str | None]]:
    """What results say, each with its reason."""
    bodies = [(each.subject.split(".")[5], orjson.loads(each.body)) for each in records]
    return [(token, body.get("reason")) for token, body in bodies]


WHOLE = [("delivery_begun", None), ("delivered", None)]


async def test_words_go_in_by_standard_input(broker: Broker, stage: Stage) -> None:
    """Begun is in the log first; voice and speed are the personality's."""
    words = 'Ärger: $(reboot); "quoted" {voice}\n-- and on'
    command = stage.command("-v {voice} -s {wpm} {speed} {length}")
    async with speaking(broker, command):
        await ask(broker, speech_asked(words, voice="northern", speed=1.25))
        told = story(await results(broker, 2))

    assert told == WHOLE
    heard = words.replace("\n", " ")
    assert stage.said == [("begin", heard), ("end", heard)]
    assert stage.lines[0]["with"] == ["-v", "northern", "-s", "219", "1.25", "0.8"]


@pytest.mark.parametrize(
    "words", ["$(reboot) `ls` 'x' \"y\" {voice} {id}", "--help", "-w /etc/passwd"]
)
async def test_words_are_one_argument_that_no_shell_sees(
    broker: Broker, stage: Stage, words: str
) -> None:
    """Nor can they be an option of the command."""
    async with speaking(broker, stage.command("--words {text}")):
        await ask(broker, speech_asked(words))
        told = story(await results(broker, 2))

    assert told == WHOLE
    [_, argument] = stage.lines[0]["with"]
    # Mark-up is not said.
    assert argument.strip() == words.replace("`", "")
    assert not argument.startswith("-")


async def test_one_thing_is_said_at_a_time(broker: Broker, stage: Stage) -> None:
    """The most urgent first, and each to its end."""
    async with speaking(broker, stage.command()) as effects:
        await ask(broker, speech_asked("[1] one"))
        await until(lambda: bool(stage.said), "it speaks")
        await ask(broker, speech_asked("three"), speech_asked("two", priority=0.7))
        await until(lambda: len(effects.in_hand) == 3, "both wait")
        told = story(await results(broker, 6))

    assert sorted(told) == sorted(WHOLE * 3)
    whats = [what for what, _ in stage.said]
    assert whats == ["begin", "end"] * 3
    words = [said for what, said in stage.said if what == "begin"]
    assert words == ["[1] one", "two", "three"]


async def test_an_alert_cuts_in_once_a_second_was_heard(
    broker: Broker, stage: Stage
) -> None:
    """What was cut off is recorded with how much was heard, and is not said again."""
    async with speaking(broker, stage.command()):
        await ask(broker, speech_asked("[60] a long story"))
        await until(lambda: bool(stage.said), "it speaks")
        await ask(broker, speech_asked("Fire!", "alert"))
        records = await results(broker, 4)

    assert story(records) == [
        ("delivery_begun", None),
        ("delivery_interrupted", "urgent"),
        *WHOLE,
    ]
    assert orjson.loads(records[1].body)["after_ms"] >= 1000.0
    assert stage.said == [
        ("begin", "[60] a long story"),
        ("begin", "Fire!"),
        ("end", "Fire!"),
    ]


async def test_an_alert_lets_another_finish(broker: Broker, stage: Stage) -> None:
    """As nothing is cut off where the settings forbid it."""
    async with speaking(broker, stage.command()):
        await ask(broker, speech_asked("[2] Fire!", "alert"))
        await until(lambda: bool(stage.said), "it speaks")
        await ask(broker, speech_asked("Flood!", "alert"))
        told = story(await results(broker, 4))

    assert told == WHOLE * 2


async def test_who_asks_for_it_stops_it(broker: Broker, stage: Stage) -> None:
    """At once; what has not begun is not said at all, and the next is."""
    async with speaking(broker, stage.command()) as effects:
        [long] = await ask(broker, speech_asked("[60] a long story"))
        await until(lambda: bool(stage.said), "it speaks")
        never, _ = await ask(
            broker, speech_asked("[60] never", priority=0.8), speech_asked("and now")
        )
        await until(lambda: len(effects.in_hand) == 3, "both wait")
        for each in (never, long):
            await ask(broker, StopAsked(ask_id=each, decision_id="d"))
        told = story(await results(broker, 6))

    begun, cut = ("delivery_begun", None), ("delivery_interrupted", "asked")
    assert told == [begun, cut, begun, cut, *WHOLE]
    assert [words for what, words in stage.said if what == "end"] == ["and now"]


async def test_what_began_and_did_not_end_is_unknown(
    broker: Broker, stage: Stage
) -> None:
    """As after a kill: it is never said again."""
    [ask_id] = await ask(broker, speech_asked("Boo."))
    begun = DeliveryBegun(ask_id=ask_id, channel="speech", started_at=NOON)
    await append_input(
        broker.writer,
        broker.reader.epoch,
        begun,
        agent=ADA,
        partition=PARTITION,
        id_=effect_results.begun_id(broker.reader.epoch, ask_id),
        source="/test",
    )
    async with speaking(broker, stage.command()):
        told = story(await results(broker, 2))

    assert told == [("delivery_begun", None), ("delivery_failed", "unknown")]
    assert stage.said == []


async def test_the_end_of_the_program_stops_it(broker: Broker, stage: Stage) -> None:
    """It is recorded as stopped, and another program does not say it again."""
    async with speaking(broker, stage.command()):
        await ask(broker, speech_asked("[60] a long story"))
        await until(lambda: bool(stage.said), "it speaks")
    async with speaking(broker, stage.command()):
        await ask(broker, speech_asked("And now?"))
        told = story(await results(broker, 4))

    assert told == [
        ("delivery_begun", None),
        ("delivery_interrupted", "stopped"),
        *WHOLE,
    ]
    assert [words for _, words in stage.said].count("[60] a long story") == 1


@pytest.mark.parametrize("how", ["missing", "failing", "hanging", "none"])
async def test_what_cannot_be_spoken_is_written(
    broker: Broker, stage: Stage, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """On the channel to fall back to, by which the log says that it went out."""
    monkeypatch.setattr(speech, "LONGEST_S", 0.5)
    commands = {"missing": SpeechCommand("/no/such/command"), "none": None}
    words = {"failing": "[fail]", "hanging": "[60]"}.get(how, "Hello.")
    heard: list[Msg] = []

    async def listen(message: Msg) -> None:
        heard.append(message)

    await broker.client.subscribe("out.ada.>", cb=listen)
    async with speaking(broker, commands.get(how, stage.command())):
        [ask_id] = await ask(broker, speech_asked(words))
        records = await results(broker, 1 if how == "none" else 2)
    await until(lambda: bool(heard), "it is read")

    assert story(records)[-1] == ("delivered", None)
    assert orjson.loads(records[-1].body)["channel"] == "say"
    assert [each.subject for each in heard] == ["out.ada.say"]
    assert heard[0].headers is not None
    assert heard[0].headers["ce-id"] == ask_id


async def test_what_is_stale_is_not_said(broker: Broker, stage: Stage) -> None:
    """It waited behind something long."""
    async with speaking(broker, stage.command()):
        await ask(broker, speech_asked("[2] one"))
        await until(lambda: bool(stage.said), "it speaks")
        await ask(broker, speech_asked("two", ttl_s=0.5))
        records = await results(broker, 3)

    assert ("delivery_failed", "expired") in story(records)
    assert "two" not in [words for _, words in stage.said]


@pytest.mark.skipif(not shutil.which("espeak-ng"), reason="espeak-ng is not installed")
async def test_espeak_speaks(broker: Broker, tmp_path: Path) -> None:
    """Into a file, so that nothing is heard: faster speech is shorter."""
    template = f"espeak-ng -v {{voice}} -s {{wpm}} -w {tmp_path}/{{id}}.wav --stdin"
    words = "The washing machine is done, and it is raining outside."
    async with speaking(broker, SpeechCommand(template, voice="en")):
        slow, fast = await ask(
            broker, speech_asked(words, speed=0.9), speech_asked(words, speed=1.2)
        )
        told = story(await results(broker, 4))

    assert told == WHOLE * 2
    sizes = [(tmp_path / f"{each}.wav").stat().st_size for each in (slow, fast)]
    assert sizes[0] > sizes[1] > 10_000


@pytest.mark.parametrize("template", ["", "  ", "say 'unclosed"])
def test_a_command_that_cannot_be_read_is_refused(template: str) -> None:
    """When the settings are read, not when something is to be said."""
    with pytest.raises(ValueError, match=r"command|quotation"):
        SpeechCommand(template)


@pytest.mark.parametrize(
    "template", ["sh -c 'say {text} | aplay'", 'bash -c "say\t--words={text}"']
)
def test_words_are_never_part_of_a_script(template: str) -> None:
    """A shell would run what they say."""
    with pytest.raises(ValueError, match="script"):
        SpeechCommand(template)
    assert SpeechCommand("say --words={text}").template


async def test_no_password_goes_to_the_command(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of our variables none is passed on."""
    monkeypatch.setenv("ECHOIC_MODEL_API_KEY", "secret")
    command = SpeechCommand(f"sh -c 'env > {stage.score}'")

    await Speaker(command).say(ADA, "id", speech_asked("Hello."))

    assert "secret" not in stage.score.read_text()
    assert "PATH=" in stage.score.read_text()
