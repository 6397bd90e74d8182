"""A language model's double: OpenAI's chat API on a loopback port."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from typing_extensions import override

from tests import strict_models


class ModelServer(ThreadingHTTPServer):
    """Answers requests with what it was told to, else with the last words said."""

    daemon_threads = True

    def __init__(self) -> None:
        """Listen on a free port."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict[str, Any]] = []
        """The bodies of the requests, oldest first."""
        self.headers: list[dict[str, str]] = []
        """Their headers, names in lower case."""
        self.clients: list[object] = []
        """The addresses of all connections, oldest first."""
        self.open = 0
        """How many of them are open."""
        self.news = threading.Condition()
        self.failures: list[int] = []
        """Statuses to fail the next requests with."""
        self.failure = "no"
        """What they say."""
        self.retry_after: str | None = None
        """What its failures say of when to come again."""
        self.refuses: Callable[[dict[str, Any]], str | None] = lambda _: None
        """What is wrong with a request, by its body; None if it is taken."""
        self.finish_reason = "stop"
        self.text: str | None = "Mind the step."
        self.message: dict[str, Any] = {}
        """Fields that its messages have besides their content."""
        self.changes: dict[str, Any] = {}
        """Fields that its answers have instead of what belongs there."""
        self.closing = threading.Event()
        self.is_silent = False
        """Whether it lets callers wait for an answer that never comes."""
        self.streams = True
        """Whether it can answer in parts, where it is asked for them."""
        self.pace_s = 0.02
        """How long it takes for a part, so that each is read by itself."""
        self.breaks: list[Literal["closes", "hangs", "garbles"]] = []
        """What the next answers in parts come to in their middle."""

    @property
    def base(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def is_left(self, within_s: float) -> bool:
        """Wait until no connection is open."""
        with self.news:
            return self.news.wait_for(lambda: self.open == 0, within_s)


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """A model that answers for the length of the block."""
    server = ModelServer()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.1"
    """A connection is kept for further requests."""

    @override
    def setup(self) -> None:
        """Count the connection."""
        super().setup()
        with self.server.news:
            self.server.clients.append(self.client_address)
            self.server.open += 1

    @override
    def finish(self) -> None:
        """Count it no longer as open."""
        super().finish()
        with self.server.news:
            self.server.open -= 1
            self.server.news.notify_all()

    def do_POST(self) -> None:
        """Answer a chat completion."""
        length = int(self.headers["content-length"])
        self.server.requests.append(json.loads(self.rfile.read(length)))
        self.server.headers.append({k.lower(): v for k, v in self.headers.items()})
        if self.server.is_silent:
            self.server.closing.wait(30)
            self.close_connection = True
            return
        wrong = self.server.refuses(self.server.requests[-1])
        if wrong is not None:
            self._send(400, {"error": {"message": wrong, "code": 400}})
        elif self.server.failures:
            status, error = (
                self.server.failures.pop(0),
                {"message": self.server.failure},
            )
            self._send(status, {"error": error})
        elif (own := self._own_answer()) is not None:
            is_parted = self.server.requests[-1].get("stream") and "response" in own
            # Ollama's parts: the words, and then an end without any.
            parts = ({**own, "done": False}, {**own, "response": ""})
            self._send(200, *(parts if is_parted else (own,)))
        elif self.server.streams and self.server.requests[-1].get("stream"):
            self._stream(self.server.breaks.pop(0) if self.server.breaks else "")
        else:
            self._send(200, self._completion())

    def _own_answer(self) -> Mapping[str, Any] | None:
        """Return the answer of an API other than OpenAI's; None if it is that."""
        text = self.server.text or ""
        return strict_models.answer(self.path, self.server.requests[-1], text)

    def _stream(self, breaks: str) -> None:
        """Answer in parts of a few characters, until it breaks in the middle."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        # Its end is the connection's; the handler closes it for this header.
        self.send_header("connection", "close")
        self.end_headers()
        text = self.server.text or ""
        size = max(1, len(text) // 5)
        parts = [text[at : at + size] for at in range(0, len(text), size)]
        for place, part in enumerate(parts):
            if breaks and place == 3:
                break
            self._part({"content": part})
            self.server.closing.wait(self.server.pace_s)
        if breaks == "hangs":
            self.server.closing.wait(30)
        if breaks == "garbles":
            self.wfile.write(b'data: {"choices": [\n\n')
        if not breaks:
            self._part(self.server.message)
            self._part({}, finish_reason=self.server.finish_reason)
            self._part(None, usage=self._completion()["usage"])
            self.wfile.write(b"data: [DONE]\n\n")

    def _part(
        self,
        delta: dict[str, Any] | None,
        finish_reason: str | None = None,
        **more: Any,
    ) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        body = {
            **self._completion(),
            "object": "chat.completion.chunk",
            "choices": [] if delta is None else [choice],
            "usage": None,
            **more,
        }
        self.wfile.write(b"data: " + json.dumps(body).encode() + b"\n\n")

    def _completion(self) -> dict[str, Any]:
        said = {"role": "assistant", "content": self.server.text}
        message = said | self.server.message
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": self.server.finish_reason,
        }
        usage = {"prompt_tokens": 11, "completion_tokens": 4, "total_tokens": 15}
        return {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "double",
            "choices": [choice],
            "usage": usage,
            **self.server.changes,
        }

    def _send(self, status: int, *lines: Mapping[str, Any]) -> None:
        data = b"\n".join(json.dumps(each).encode() for each in lines)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if status != HTTPStatus.OK and self.server.retry_after is not None:
            self.send_header("retry-after", self.server.retry_after)
        self.end_headers()
        self.wfile.write(data)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
