"""How soon something is read or heard: `python -m bench.saying [--count N]`.

From publishing an event, as a sensor does, over the intake, the worker and the effects, to
- the first words of a model's answer, and the whole, at a receiver of text. The double of a
  model begins at once and takes `MODEL_S` for its whole answer, so what is left of the first
  is ours;
- the first sound of what a heuristic says: the start of the speech command, a shell script
  that writes down the time.

Worker and effects are one process, this one, whose CPU a response is told, too.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import orjson
from msgspec.structs import replace
from nats.aio.msg import Msg

from bench.beside import beside
from bench.hanging import model
from bench.rig import Rig, rig
from bench.worker import plain, started
from echoic.embedders import embedder
from echoic.run.process import prepare
from handlers.aids import AidProvider, PackLibrary
from handlers.broker import faststream_broker, start, stop
from handlers.effects.models import LiteLLM
from handlers.effects.perform import Performer
from handlers.effects.speech import Speaker, SpeechCommand
from handlers.effects.subscribers import Effects
from handlers.worker.loop import Worker
from schemas.messages.controls import HeuristicSeeded, MindStarted
from schemas.values.subjects import PART, partition_of
from streams.jetstream.consumers import prepare_consumers
from streams.log import append_input

COUNT = 30
AGENT = "ada"
MODEL_S = 1.0
PARTS = 20
WAIT_S = 30.0

_WORDS = (
    "There is a fox behind the old oak, and it has seen you long before you saw it."
)
_SCRIPT = 'date +%s%N >> "$1"; cat > /dev/null\n'


async def measured(count: int) -> dict[str, float]:
    """Return the medians in milliseconds, and CPU a response of either kind."""
    async with rig() as running:
        texts = await _texts(running, count)
        sounds = await _sounds(running, count)
    return {**texts, **sounds}


async def _texts(running: Rig, count: int) -> dict[str, float]:
    first, whole = asyncio.Event(), asyncio.Event()

    async def hear(message: Msg) -> None:
        (first if message.subject.endswith(f".{PART}") else whole).set()

    async with model(_stream) as base, _serving(running, base, None):
        listener = await running.client.subscribe(f"out.{AGENT}.>", cb=hear)
        firsts: list[float] = []
        wholes: list[float] = []
        cpu_s = 0.0
        # The first one pays for what is set up once.
        for place in range(count + 1):
            # Later parts of the last answer came after its first.
            first.clear()
            whole.clear()
            begun, spent = time.perf_counter(), time.process_time()
            await _publish(running, "user.message", f"what is at place {place}?")
            for event, took in ((first, firsts), (whole, wholes)):
                await asyncio.wait_for(event.wait(), WAIT_S)
                took.append((time.perf_counter() - begun) * 1_000)
            cpu_s += (time.process_time() - spent) if place else 0.0
        await listener.unsubscribe()
    return {
        "first_text_ms": round(median(firsts[1:]), 1),
        "whole_text_ms": round(median(wholes[1:]), 1),
        "text_cpu_ms": round(cpu_s / count * 1_000, 1),
    }


async def _sounds(running: Rig, count: int) -> dict[str, float]:
    with TemporaryDirectory(prefix="echoic-bench-") as folder:
        script, score = Path(folder) / "speak.sh", Path(folder) / "score"
        script.write_text(_SCRIPT)
        async with _serving(running, None, f"sh {script} {score}"):
            await append_input(
                running.writer,
                running.log.epoch,
                HeuristicSeeded(
                    heuristic_id="low", name="low", domain="game", confidence=0.9,
                    condition="food is low", text="Eat now.",
                ),
                agent=AGENT,
                partition=partition_of(AGENT),
                id_="low",
                source="/bench",
            )  # fmt: skip
            sounds, cpu_s = [], 0.0
            for place in range(count + 1):
                begun_ns, spent = time.time_ns(), time.process_time()
                await _publish(running, "game.vital", "food is low", place)
                at_ns = await _line(score, place)
                sounds.append((at_ns - begun_ns) / 1e6)
                cpu_s += (time.process_time() - spent) if place else 0.0
    return {
        "first_sound_ms": round(median(sounds[1:]), 1),
        "sound_cpu_ms": round(cpu_s / count * 1_000, 1),
    }


async def _publish(running: Rig, sort: str, text: str, place: int = 0) -> None:
    body = orjson.dumps({"text": text, "salience": {"threat": 0.9}})
    headers = {"ce-id": f"{sort}-{text}-{place}"}
    subject = f"in.{AGENT}.{sort}"
    await running.client.jetstream().publish(subject, body, headers=headers)


async def _line(score: Path, place: int) -> int:
    """Return what stands in a line of the file, once it does."""
    async with asyncio.timeout(WAIT_S):
        while True:
            lines = await asyncio.to_thread(_lines, score)
            if len(lines) > place:
                return int(lines[place])
            await asyncio.sleep(0.002)


def _lines(score: Path) -> list[str]:
    return score.read_text().splitlines() if score.exists() else []


@asynccontextmanager
async def _serving(
    running: Rig, base: str | None, command: str | None
) -> AsyncIterator[None]:
    """Answer and perform for the length of the block."""
    made_by, log = embedder("wordllama"), running.log
    asks = LiteLLM(base, "none") if base else None
    speaker = Speaker(SpeechCommand(command)) if command else None
    worker = Worker(
        log,
        running.writer,
        AidProvider(made_by, PackLibrary(log, made_by)),
        _settings(has_model=base is not None),
    )
    await prepare_consumers(running.client)
    broker = faststream_broker(running.server.core)
    effects = Effects(Performer(log, running.writer, running.client, asks, speaker))
    effects.subscribe(broker)
    async with AsyncExitStack() as stack:
        if asks is not None:
            await asks.prepare()
        stack.push_async_callback(stop, broker)
        await start(broker)
        await stack.enter_async_context(effects.serving())
        await stack.enter_async_context(beside(worker.run()))
        await worker.ready.wait()
        yield


def _settings(*, has_model: bool) -> MindStarted:
    begun = started("openai/double" if has_model else None)
    executive = plain(stream=has_model, speech=not has_model)
    settings = begun.settings.model_copy(
        update={"executive": executive, "relevance": 0.0}
    )
    return replace(begun, settings=settings)


async def _stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer each request in parts, over `MODEL_S` seconds."""
    text = json.dumps({"response": _WORDS, "predicted_success": 0.5})
    # The first part holds a word: with less there would be nothing to say at once.
    begins = text.index(" ", len('{"response": '))
    size = -(-len(text[begins:]) // PARTS)
    parts = [text[:begins]]
    parts += [text[at : at + size] for at in range(begins, len(text), size)]
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            lengths = [
                int(line.partition(b":")[2])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length")
            ]
            await reader.readexactly(lengths[0])
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                b"transfer-encoding: chunked\r\n\r\n"
            )
            for part in parts:
                writer.write(_chunk({"content": part}, None))
                await writer.drain()
                await asyncio.sleep(MODEL_S / len(parts))
            writer.write(_chunk({}, "stop"))
            done = b"data: [DONE]\n\n"
            writer.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(done), done))
            await writer.drain()


def _chunk(delta: dict[str, str], finish_reason: str | None) -> bytes:
    body = {
        "id": "bench",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "double",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
    }
    line = b"data: " + orjson.dumps(body) + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(line), line)


def main() -> None:
    """Measure, and print the figures."""
    prepare()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    json.dump(asyncio.run(measured(parser.parse_args().count)), sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
