"""Servers of an instance are restarted, until the instance ends."""

import asyncio
from contextlib import suppress

import pytest

from bench.beside import beside
from echoic.run import supervision
from echoic.run.supervision import supervise
from projections.errors import StoreUnavailable
from streams.errors import LogDamaged, LogUnavailable, ServerFailed, TopologyDrift
from tests.patience import PATIENCE_S


class Restarting:
    """A server that has ended, and whose restart something swallows a cancellation in."""

    name = "the server"
    is_startable = True

    def __init__(self) -> None:
        self.begun, self.has_ended = asyncio.Event(), True

    def tend(self) -> None:
        """Need nothing."""

    def fault(self) -> str | None:
        """Say that it has ended, until it was restarted."""
        return "has ended by itself" if self.has_ended else None

    async def restart(self) -> None:
        """Take long, and not heed that it is cancelled, as `asyncio.wait_for` may."""
        self.begun.set()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        self.has_ended = False


async def test_supervision_ends_amid_a_restart() -> None:
    """Whatever swallows the cancellation; else the instance would never end."""
    child, told = Restarting(), list[str]()
    async with beside(supervise(child, told.append), may_end=True) as (task,):
        await child.begun.wait()
        task.cancel()

        await asyncio.wait({task}, timeout=PATIENCE_S)

        assert task.cancelled()
    assert told == ["the server has ended by itself", "the server is up again"]


class Failing(Restarting):
    """A server whose restart fails with each of these first."""

    def __init__(self, *failures: BaseException) -> None:
        super().__init__()
        self.failures = list(failures)

    async def restart(self) -> None:
        """Fail as it is told, then come up."""
        if self.failures:
            raise self.failures.pop(0)
        self.has_ended = False
        self.begun.set()


@pytest.mark.parametrize(
    "failure",
    [
        ServerFailed("it stopped"),
        StoreUnavailable("it took no connections"),
        LogUnavailable("it ended meanwhile"),
        TopologyDrift("stream 'LOG' does not exist"),
        ProcessLookupError("no such process"),
        TimeoutError(),
        asyncio.CancelledError(),
        ValueError("half an answer"),
        ExceptionGroup("several", [OSError("one")]),
    ],
    ids=lambda each: type(each).__name__,
)
async def test_a_restart_that_failed_in_any_way_is_tried_again(
    failure: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cancellation that is none of the supervision's is a failure like another."""
    monkeypatch.setattr(supervision, "FIRST_PAUSE_S", 0.01)
    child, told = Failing(failure, failure), list[str]()
    task = asyncio.create_task(supervise(child, told.append))
    async with asyncio.timeout(PATIENCE_S):
        await child.begun.wait()
    task.cancel()

    await asyncio.wait({task}, timeout=PATIENCE_S)

    assert task.cancelled()
    assert len(told) == 3
    assert told[1] == (
        f"the server does not start, it is tried again: {str(failure) or repr(failure)}"
    )


async def test_a_log_that_lost_something_ends_the_supervision() -> None:
    """No restart brings it back, and a person has to know."""
    child = Failing(LogDamaged("blocks", 7, "it was written up to 9"))

    with pytest.raises(LogDamaged, match="sequence 7"):
        await supervise(child, print)
