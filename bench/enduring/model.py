"""A model that answers, fails and hangs by turns: `python -m bench.enduring.model PORT SEED`.

Which of them it is follows from the request, so that the same question has the same fate.
"""

import hashlib
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_HANGS_S = 30.0
_FATES = ("answers",) * 14 + ("slow", "slow", "hangs", "hangs", "fails", "breaks")


def fate(seed: str, body: bytes) -> str:
    """Return what becomes of a request."""
    drawn = hashlib.blake2b(seed.encode() + body, digest_size=2).digest()
    return _FATES[int.from_bytes(drawn, "big") % len(_FATES)]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Answer a chat completion, or do not."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        match fate(sys.argv[2], body):
            case "slow":
                time.sleep(1.0)
            case "hangs":
                time.sleep(_HANGS_S)
                return
            case "fails":
                self.send_error(500)
                return
            case "breaks":
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b'{"choices": [{"mess')
                return
            case _:
                pass
        said = {"role": "assistant", "content": "Have a look when you pass by."}
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        answer = json.dumps({
            "id": "1", "object": "chat.completion", "created": 1, "model": "household",
            "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
            "usage": usage,
        }).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    threading.stack_size(256 * 1024)
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), _Handler)
    server.daemon_threads = True
    server.serve_forever()
