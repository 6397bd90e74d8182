"""Destinations of spans: a collector that answers, otherwise a file.

A collector that is away costs one short probe, one notice, and another probe after a
minute; nothing waits for it.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

from echoic.tracing import encode
from echoic.tracing.collector import PROBE_S, Collector, CollectorError
from echoic.tracing.spans import Attributes, SpanData

_AGAIN_S = 60.0
"""Seconds before a collector that was away is probed again."""
SPOOL = "traces.otlp.jsonl"
"""The file in the data folder that holds what no collector took."""
CLAIMED = ".sending"
"""The end of the name of a file that no running instance writes to any more."""
SPOOL_BYTES_MAX = 64 * 1024 * 1024
"""Bytes at which a spool file is rotated; one older file is kept, so two bound the disk."""


class Spool:
    """A file of OTLP-JSON lines, one batch a line, readable by its owner alone."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def send(self, resource: Attributes, spans: Sequence[SpanData]) -> None:
        """Append a batch.

        Raises:
            OSError: the file cannot be written.
        """
        line = encode.to_json(resource, spans) + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # The mode is set at creation, so the file is never readable by others.
        descriptor = os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            file.write(line)
            size = file.tell()
        if size > SPOOL_BYTES_MAX:
            self.path.replace(self.path.with_name(f"{self.path.name}.1"))

    def files(self) -> list[Path]:
        """Return the files that there are, oldest first, with those that `send` left."""
        ends = (f".1{CLAIMED}", CLAIMED, ".1", "")
        paths = (self.path.with_name(self.path.name + end) for end in ends)
        return [path for path in paths if path.exists()]

    def clear(self) -> None:
        """Remove the files; what comes is written to a new one."""
        for path in self.files():
            path.unlink(missing_ok=True)

    def batches(
        self, *, containing: str = ""
    ) -> Iterator[tuple[Attributes, list[SpanData]]]:
        """Yield what the files hold, in order; only lines with a text, if one is given.

        Raises:
            OSError: a file cannot be read.
        """
        for path in self.files():
            with path.open("rb") as file:
                for line in file:
                    # Looked for before decoding, which takes a hundred times as long.
                    if containing.encode() in line:
                        yield from encode.whole(line)


class Destination:
    """Chooses between collector and spool for each batch."""

    def __init__(
        self,
        collector: Collector,
        spool: Spool,
        notify: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Call `notify` once when spans go into the file, with the reason."""
        self._collector = collector
        self._spool = spool
        self._notify = notify
        self._clock = clock
        self._away_until = 0.0
        self._noticed = False
        self._probed = False
        self._answer = SimpleQueue[str | None]()

    def prepare(self) -> None:
        """Load what sends, if the collector answers, before the first batch."""
        if self._collector.answers():
            self._probed = True
            # What is wrong comes up again with the first batch, and is told then.
            with suppress(CollectorError):
                self._collector.open()

    def send(self, resource: Attributes, spans: Sequence[SpanData]) -> None:
        """Send a batch to the collector, or else to the file.

        Raises:
            OSError: neither the collector nor the file takes it.
        """
        reason = self._try_collector(resource, spans)
        if reason is None:
            return
        if not self._noticed:
            self._noticed = True
            self._notify(
                f"{reason}; traces go to {self._spool.path} "
                "(open it with 'Upload' in Jaeger)"
            )
        self._spool.send(resource, spans)

    def abort(self) -> None:
        """End a wait in another thread; later batches go into the file."""
        self._away_until = float("inf")
        self._answer.put("it took too long")

    def close(self) -> None:
        """Let go of the collector."""
        self._collector.close()

    def _try_collector(
        self, resource: Attributes, spans: Sequence[SpanData]
    ) -> str | None:
        """Send a batch to the collector; return why it was not sent, None if it was."""
        where, now = self._collector.name, self._clock()
        if now < self._away_until:
            return f"the trace collector at {where} is away"
        # A probe fails within 0.3 s, where a post to a silent address would take 2 s.
        if not self._probed and not self._collector.answers():
            self._away_until = now + _AGAIN_S
            return f"no trace collector at {where}"
        self._probed = True
        reason = self._sent(resource, spans)
        if reason is None:
            return None
        self._probed = False
        # `abort` may have set it to infinity meanwhile, which must stay.
        self._away_until = max(self._away_until, now + _AGAIN_S)
        self._collector.close()
        return f"the trace collector at {where} took no batch ({reason})"

    def _sent(self, resource: Attributes, spans: Sequence[SpanData]) -> str | None:
        """Wait for the collector, at most as long as it may take; return what failed."""
        # In a thread of its own, as nothing breaks off a request that hangs. It is left
        # behind then: whatever becomes of it, the batch is in the file.
        self._answer = answer = SimpleQueue[str | None]()

        def send() -> None:
            try:
                self._collector.send(resource, spans)
            except Exception as error:  # noqa: BLE001  # whatever it is, it goes on
                answer.put(str(error) or repr(error))
            else:
                answer.put(None)

        Thread(target=send, name="trace export", daemon=True).start()
        try:
            return answer.get(timeout=self._collector.endpoint.timeout_s + PROBE_S)
        except Empty:
            return "it took too long"
