"""The receiver of a webhook: `python -m bench.enduring.webhook PORT SEED FILE`.

It takes responses at once, slowly, or not, by turns. What it takes it writes down before it
says so; a response that comes again is the caller's way to be sure, and is written again.
"""

import fcntl
import itertools
import json
import random
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_HANGS_S = 15.0
_FATES = ("takes",) * 12 + ("slow", "slow", "fails", "fails", "silent", "hangs")
_numbers = itertools.count()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Take a response, or do not."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        drawn = random.Random(f"{sys.argv[2]}/{next(_numbers)}").choice(_FATES)
        if drawn == "fails":
            self.send_error(503)
            return
        if drawn == "hangs":
            time.sleep(_HANGS_S)
            return
        if drawn == "slow":
            time.sleep(2.0)
        line = json.dumps({"id": self.headers["webhook-id"], "body": body.decode()})
        with open(sys.argv[3], "a", encoding="utf-8") as file:  # noqa: PTH123  # by name
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(line + "\n")
        if drawn == "silent":
            # Taken, but the answer is lost: it comes once more.
            self.connection.close()
            return
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), _Handler)
    server.daemon_threads = True
    server.serve_forever()
