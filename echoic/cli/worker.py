"""`echoic worker` and `effects`: take part, from any machine that reaches the broker."""

import asyncio
import os
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from echoic.cli.options import Data, InstanceCall, new_app, settings_of
from echoic.cli.up import stopped_by_signal
from echoic.run.process import log_to_stderr
from echoic.terminal.output import note, print_json
from schemas.values.subjects import PARTITIONS
from streams.cancellation import ended

if TYPE_CHECKING:
    from handlers.worker.leases.keeper import Holding

app = new_app("worker", "Take part in deciding, from any machine.")


@app.command()
def worker(call: InstanceCall, name: str | None = None, force: bool = False) -> None:
    """Join a running instance as one more worker, until Ctrl-C.

    The instance shares its agents with all that join, where it has `worker.leases = on`.
    All it takes is the broker's address, as NATS_URL; settings are those of the instance.

    Examples: `echoic worker`, `echoic worker --name garage --json`.

    Args:
        name: What it is called where workers are listed; else its process id.
        force: Join although version, embedder or strategies are not the instance's.
    """
    log_to_stderr()

    def changed(holding: "Holding") -> None:
        if call.as_json:
            print_json(
                {
                    "v": 1,
                    "member": holding.member,
                    "partitions": list(holding.partitions),
                    "members": holding.members,
                }
            )
        else:
            print(f"owns {_owned(holding)}", flush=True)

    from echoic.run import joining

    note("joining …")
    name = name or str(os.getpid())
    work = joining.work(call.settings, name, note, changed, force=force)
    asyncio.run(_until_stopped(work))


@app.command()
def effects(data: Data = None) -> None:
    """Call models for a running instance from here as well, until Ctrl-C.

    Any number may do so, on any machines: each call is made by one of them, and by another
    if that one ends. What is said, spoken or posted stays with the instance.

    Example: `echoic effects`, with NATS_URL, and ECHOIC_MODEL_API_KEY if the model needs it.
    """
    log_to_stderr()
    from echoic.run.effects_alone import perform

    asyncio.run(_until_stopped(perform(settings_of(data), note)))


async def _until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Work until told to stop; what it hands back or over then, it has time for."""
    from handlers.worker.leases.sharing import STOP_S

    stopped = stopped_by_signal()
    working = asyncio.create_task(work)
    stopping = asyncio.create_task(stopped.wait())
    await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if not working.done():
        note("stopping …")
        await ended([working], STOP_S)
        return
    stopping.cancel()
    # It raises what it failed with.
    await working


def _owned(holding: "Holding") -> str:
    own = holding.partitions
    shown = f": {' '.join(map(str, own))}" if own else ""
    return f"{len(own)} of {PARTITIONS} partitions{shown}; workers: {holding.members}"
