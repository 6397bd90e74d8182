"""`echoic worker` and `effects`: take part, from any machine that reaches the broker."""

import asyncio
import os
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from echoic.cli.options import Data, InstanceCall, new_app, settings_of
from echoic.cli.up import stopped_by_signal
from echoic.errors import EchoicError
from echoic.run.process import log_to_stderr
from echoic.terminal.output import note, print_json
from schemas.values.subjects import read_range
from streams.cancellation import ended

if TYPE_CHECKING:
    from handlers.worker.charge import Standing

app = new_app("worker", "Take part in deciding, from any machine.")


@app.command()
def worker(
    call: InstanceCall,
    partitions: str | None = None,
    name: str | None = None,
    force: bool = False,
) -> None:
    """Decide for a range of partitions beside a running instance, until Ctrl-C.

    Where another worker has the same range, it stands by, and takes over if that one ends.
    All it takes is the broker's address, as NATS_URL; settings are those of the instance.

    Examples: `echoic worker --partitions 8-15`, `echoic worker --name garage --json`.

    Args:
        partitions: For which: as in `0-7` or `0-3,8`, or all.
        name: What it is called where workers are listed; else its process id.
        force: Join although version, embedder or strategies are not the instance's.
    """
    log_to_stderr()

    def changed(standing: "Standing") -> None:
        held, owner = standing.range, standing.owner
        if call.as_json:
            is_owner = standing.is_own
            print_json({"v": 1, "range": held, "owner": owner, "is_owner": is_owner})
        elif standing.is_own:
            print(f"owns the partitions {held}", flush=True)
        else:
            print(f"stands by for {owner}, which owns {held}", flush=True)

    from echoic.run import joining

    try:
        read_range(partitions or "all")
    except ValueError as error:
        raise EchoicError(
            f"--partitions {partitions}: {error}",
            next_step="echoic worker --partitions 8-15",
        ) from error
    note("joining …")
    name = name or str(os.getpid())
    settings = settings_of(call.data, worker__partitions=partitions)
    work = joining.work(settings, name, note, changed, force=force)
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
    from handlers.worker.charge import END_S

    stopped = stopped_by_signal()
    working = asyncio.create_task(work)
    stopping = asyncio.create_task(stopped.wait())
    await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if not working.done():
        note("stopping …")
        await ended([working], END_S)
        return
    stopping.cancel()
    # It raises what it failed with.
    await working
