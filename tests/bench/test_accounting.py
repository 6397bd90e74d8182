"""The books of a household: whatever is lost, doubled or left over is told."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from bench.enduring.accounting import Books, asks_and_ends, compare, deliveries
from bench.enduring.findings import Findings
from bench.enduring.senders import Account
from schemas.values.record import Wire
from schemas.values.subjects import outputs_of, partition_of
from streams.log import GroupWrite
from tests.memory_log import MemoryLog

AGENT, PLACE = "ada", partition_of("ada")
DECIDED = ("decision.decided", {"event_id": "e1", "final": False})
ASKED = ("ask.delivery_asked", {"decision_id": "d", "channel": "webhook"})
ENDED = ("decision.completed", {"decision_id": "o2-0"})


class Log:
    """A log of one agent, whose outputs are named after their cause and place."""

    def __init__(self) -> None:
        """Start empty."""
        self.log = MemoryLog()

    async def input(self, detail: str, id_: str, **body: Any) -> int:
        """Append an input."""
        subject = f"ev.{PLACE}.in.{AGENT}.{detail}"
        wire = Wire(subject, {"ce-id": id_}, orjson.dumps(body))
        last = len(await self.log.page(">", 0, 1_000))
        return await self.log.append(wire, f"m-{last}")

    async def answer(
        self, cause: int, *messages: tuple[str, Mapping[str, object]]
    ) -> None:
        """Append a group."""
        wires = [
            Wire(
                f"ev.{PLACE}.out.{AGENT}.{detail}",
                {
                    "ce-id": f"o{cause}-{index}",
                    "ce-causeseq": str(cause),
                    "ce-index": str(index),
                },
                orjson.dumps(body),
            )
            for index, (detail, body) in enumerate(messages)
        ]
        end = await self.log.last_sequence(outputs_of(PLACE))
        await self.log.commit([GroupWrite(PLACE, end, tuple(wires))])


async def whole() -> Log:
    """An event that is answered, and whose answer is delivered."""
    made = Log()
    first = await made.input("sensor.cam.seen", "e1", text="x")
    await made.answer(first, DECIDED, ASKED)
    ended = await made.input("result.delivered", "r", ask_id=f"o{first}-1")
    handled = ("note.handled", {"reason": "recorded"})
    end = ("decision.completed", {"decision_id": f"o{first}-0"})
    await made.answer(ended, handled, end)
    return made


async def faults(made: Log, account: Account | None = None) -> Sequence[str]:
    """What is found wrong with a log, of which one event was acknowledged."""
    books, found = Books(), Findings()
    await books.read_on(made.log)
    known = account or Account(events={(AGENT, "e1")})
    compare(books, known, found)
    asks_and_ends(books, found)
    return found.faults


async def test_a_whole_log_has_no_faults(tmp_path: Path) -> None:
    """Nor has what the webhook took."""
    made = await whole()
    assert await faults(made) == []

    books, found = Books(), Findings()
    await books.read_on(made.log)
    received = tmp_path / "received.jsonl"
    line = orjson.dumps({"id": "d", "body": "x"}) + b"\n"
    received.write_bytes(2 * line + line[:7])
    deliveries(books, Account(), received, found)
    assert found.faults == []

    received.write_bytes(line + orjson.dumps({"id": "d", "body": "y"}) + b"\n")
    deliveries(books, Account(), received, found)
    received.write_bytes(b"")
    deliveries(books, Account(), received, found)
    assert [each.split(":")[0] for each in found.faults] == [
        "1 responses that came again in other words",
        "1 responses that the webhook did not get",
    ]


@pytest.mark.parametrize(
    ("account", "told"),
    [
        (Account(events={(AGENT, "e1"), (AGENT, "e2")}), "that the log does not have"),
        (Account(votes={(AGENT, "cam", "d"): "positive"}), "were not applied"),
        (Account(refused=["no"]), "1 refusals"),
    ],
)
async def test_what_was_acknowledged_has_to_be_there(
    account: Account, told: str
) -> None:
    """Events, votes; and nothing that is in order is refused."""
    assert any(told in each for each in await faults(await whole(), account))


async def test_what_is_doubled_or_left_over_is_told() -> None:
    """Each by its own words."""
    made = await whole()
    again = await made.input("sensor.cam.seen", "e1", text="x")
    await made.answer(again, DECIDED, ASKED)
    await made.answer(again, ("note.handled", {"reason": "duplicate"}))
    await made.input("sensor.cam.seen", "e9", text="x")
    second = await made.input("result.delivered", "r2", ask_id="o1-1")
    await made.answer(second, ("note.handled", {"reason": "recorded"}))
    odd = await made.input("sensor.cam.seen", "e3", text="x")
    await made.answer(odd, ("note.quarantined", {"reason": "error"}))

    found = " ".join(await faults(made))

    for each in (
        "1 inputs without an answer", "1 inputs answered twice",
        "1 acknowledged events not decided exactly once", "1 events decided twice",
        "events neither decided nor known as repeats", "1 inputs in quarantine",
        "1 decisions without exactly one end", "1 asks without a result",
        "1 asks of which two results counted",
    ):  # fmt: skip
        assert each in found


async def test_a_repeat_is_no_second_event() -> None:
    """It was sent again since nobody said that it had arrived."""
    made = await whole()
    again = await made.input("sensor.cam.seen", "e1", text="x")
    await made.answer(again, ("note.handled", {"reason": "duplicate"}))

    assert await faults(made) == []
