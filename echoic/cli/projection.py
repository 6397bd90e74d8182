"""`echoic projection`: the read models, where they stand, and making them again."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import partial
from typing import Annotated, TypeVar

import typer

from echoic import errors
from echoic.cli import projection_replay
from echoic.cli.connected import on_instance
from echoic.cli.options import Call, InstanceCall, new_app
from echoic.cli.progress import Progress
from echoic.client import known_agents
from echoic.client.connection import Connection, addresses, needed_database
from echoic.client.watch import last_answered
from echoic.run.rebuild_processes import Crew, Job
from echoic.terminal.output import note
from echoic.terminal.screen import counted, number, table
from projections.projector import rebuild as rebuilding
from projections.store.store import Store
from projections.store.tables import KEYS
from schemas.values.subjects import PARTITIONS

_T = TypeVar("_T")

app = new_app("projection", "The read models: list, rebuild, lag, replay.")
app.command()(projection_replay.replay)


@app.command(name="list")
def list_(call: InstanceCall) -> None:
    """List the versions of the read models, and the views that everybody reads.

    Example: `echoic projection list`.
    """

    async def run(connection: Connection) -> list[dict[str, object]]:
        with Store(connection.needed_database()) as store:
            return [
                {**asdict(version), "partitions": len(store.positions(version.number))}
                for version in store.versions()
            ]

    rows = on_instance(call, run)
    if call.as_json:
        call.show({"rows": rows, "views": list(KEYS)}, ())
        return
    header = ("number", "shape", "state", "partitions")
    call.show_rows(rows, header, ([row[name] for name in header] for row in rows))
    note("views: " + ", ".join(KEYS))


@app.command()
def lag(call: InstanceCall) -> None:
    """Show how far the read models are behind the log.

    Example: `echoic projection lag`. The exit code is 1 if they are behind.
    """

    async def run(connection: Connection) -> list[dict[str, int]]:
        with Store(connection.needed_database()) as store:
            stands = store.positions(store.serving().number)
        rows = []
        for partition in range(PARTITIONS):
            answered = await last_answered(connection.log, partition)
            # A partition that the read models never met begins at 0.
            position = stands.get(partition)
            at = position.sequence if position else 0
            # A partition without inputs is not behind.
            if answered:
                rows.append({"partition": partition, "position": at, "log": answered})
        return rows

    rows = on_instance(call, run)
    # Both are sequences of inputs: the last one with rows, and the last one answered.
    behind = sum(row["position"] < row["log"] for row in rows)
    header = map(number, ("partition", "position", "log"))
    call.show_rows(rows, header, map(dict.values, rows))
    if behind:
        note(f"behind: {counted(behind, 'partition')}")
        raise typer.Exit(errors.FINDING)


@app.command()
def rebuild(
    call: InstanceCall, check: Annotated[bool, typer.Option("--verify")] = False
) -> None:
    """Rebuild the read models from the log; the old ones serve meanwhile.

    Examples: `echoic projection rebuild`, `echoic projection rebuild --verify`. With
    --verify the exit code is 1 if a table is not what the log makes of it.

    Args:
        check: Change nothing: prove table = fold(log).
    """
    if check:
        _verify(call)
        return

    async def run(store: Store, crew: Crew, connection: Connection) -> int:
        return await rebuilding.rebuild(store, crew, connection.log)

    version = _with_crew(call, run)
    call.show({"version": version}, [f"version {version} serves"])


def _verify(call: Call) -> None:
    async def run(
        store: Store, crew: Crew, connection: Connection
    ) -> rebuilding.Verified:
        return await rebuilding.verify(connection.log, store, crew)

    found = _with_crew(call, run)
    rows = (
        (name, f"{checksum.rows:,} rows", checksum.digest[:16])
        for name, checksum in found.tables.items()
    )
    tables = table(("", number(), ""), rows)
    differ = (
        f"{each.kind}: {each.table} {', '.join(each.key)}" for each in found.differences
    )
    call.show({"is_equal": found.is_equal, **asdict(found)}, (tables, *differ))
    if not call.as_json:
        note("equal to the fold" if found.is_equal else "not equal to the fold")
    if not found.is_equal:
        raise typer.Exit(errors.FINDING)


def _with_crew(
    call: Call, work: Callable[[Store, Crew, Connection], Awaitable[_T]]
) -> _T:
    """Run `work` on the tables, with the processes that fill them and a progress bar."""
    settings = call.settings
    credentials, url = addresses(settings)
    job = Job(
        credentials=credentials,
        database_url=needed_database(url),
        embedder=settings["embedder"],
    )

    async def run(connection: Connection) -> _T:
        counts = await known_agents.inputs_by_partition(connection.client)
        # The longest partitions first, so that no process is left with one at the end.
        crew.order = sorted(range(PARTITIONS), key=lambda each: -counts.get(each, 0))
        whole = sum(counts.values())
        with (
            Progress("read models made", is_silent=call.as_json) as bar,
            Store(job.database_url) as store,
        ):
            crew.progress = partial(bar, whole=whole)
            return await work(store, crew, connection)

    # The processes first: they begin as copies of this one while it does nothing else.
    with Crew(job) as crew:
        return on_instance(call, run)
