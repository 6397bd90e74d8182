"""The language model's double: an OpenAI-compatible server that says what tests script.

It listens on a loopback port and is reached through litellm as any other model is.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.patience import PATIENCE_S

NAME = "openai/double"


@dataclass(frozen=True, slots=True)
class Reply:
    """What the double does with a request."""

    text: str = ""
    status: int = 200
    release: asyncio.Event | None = None
    """Answers only once this is set."""


def reply(response: str, success: float = 0.6, confidence: float = 0.5) -> Reply:
    """An answer in the form that the prompt asks for."""
    fields = {
        "response": response,
        "predicted_success": success,
        "prediction_confidence": confidence,
    }
    return Reply(json.dumps(fields))


GOOD = reply("Take a breath, then look around.")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the double received it."""

    system: str
    prompt: str
    raw: str
    """The whole body, with everything that went over the wire."""


@dataclass
class ModelDouble:
    """The double while it runs."""

    url: str
    asked: list[Asked] = field(default_factory=list)
    """Every request, in the order in which they came."""
    _script: list[tuple[str, Reply]] = field(default_factory=list)
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    def on(self, words: str, says: Reply) -> None:
        """Answer prompts with these words so from now on."""
        self._script.insert(0, (words, says))

    async def asked_about(self, words: str, count: int = 1) -> list[Asked]:
        """The requests with these words in the prompt, once there are so many."""

        def found() -> list[Asked]:
            return [each for each in self.asked if words in each.prompt]

        async with asyncio.timeout(PATIENCE_S), self._news:
            await self._news.wait_for(lambda: len(found()) >= count)
        return found()

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer the requests of one connection."""
        try:
            while (request := await _request(reader)) is not None:
                says = await self._note(request)
                if says.release is not None:
                    await says.release.wait()
                is_whole = not json.loads(request).get("stream")
                writer.write(_response(says) if is_whole else _streamed(says))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    async def _note(self, request: bytes) -> Reply:
        body: dict[str, Any] = json.loads(request)
        system, user = (each["content"] for each in body["messages"])
        async with self._news:
            self.asked.append(Asked(system, user, request.decode()))
            self._news.notify_all()
        return next((says for words, says in self._script if words in user), GOOD)


@asynccontextmanager
async def model_double() -> AsyncIterator[ModelDouble]:
    """A double that listens for the length of the block."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(double.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    double = ModelDouble(f"http://127.0.0.1:{port}/v1")
    try:
        yield double
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


async def _request(reader: asyncio.StreamReader) -> bytes | None:
    """The body of the next request; None when the connection ends."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    lines = head.decode().lower().split("\r\n")
    lengths = [
        int(line.partition(":")[2]) for line in lines if line.startswith("content-len")
    ]
    return await reader.readexactly(lengths[0])


def _response(says: Reply) -> bytes:
    if says.status != 200:
        return _http(says.status, {"error": {"message": "the double is out of order"}})
    message = {"role": "assistant", "content": says.text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return _http(
        200,
        {
            "id": "double-1",
            "object": "chat.completion",
            "created": 0,
            "model": "double",
            "choices": [choice],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
        },
    )


def _streamed(says: Reply) -> bytes:
    """The response in parts of a word each, as fast as they go."""
    if says.status != 200:
        return _response(says)
    words = [f"{word} " for word in says.text.split(" ")]
    words[-1] = words[-1][:-1]
    chunks = [_chunk({"content": each}) for each in words]
    chunks.append(_chunk({}, finish_reason="stop"))
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    chunks.append({**_chunk({}), "choices": [], "usage": usage})
    lines = [f"data: {json.dumps(each)}\n\n" for each in chunks]
    data = "".join([*lines, "data: [DONE]\n\n"]).encode()
    head = (
        "HTTP/1.1 200 -\r\ncontent-type: text/event-stream\r\n"
        f"content-length: {len(data)}\r\n\r\n"
    )
    return head.encode() + data


def _chunk(delta: dict[str, str], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {
        "id": "double-1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "double",
        "choices": [choice],
    }


def _http(status: int, body: dict[str, Any]) -> bytes:
    data = json.dumps(body).encode()
    head = (
        f"HTTP/1.1 {status} -\r\ncontent-type: application/json\r\n"
        f"content-length: {len(data)}\r\n\r\n"
    )
    return head.encode() + data
