"""`echoic projection`: the read models, where they stand, and making them again."""

from dataclasses import asdict

import typer

from echoic import errors
from echoic.cli.common import Data, Json, new_app, note, print_json, print_rows
from echoic.cli.connected import on_instance
from echoic.live import Connection
from echoic.watching import last_answered
from projections.store import Store
from projections.tables import KEYS
from schemas.subjects import PARTITIONS

app = new_app("projection", "The read models: list, rebuild, lag.")


@app.command(name="list")
def list_(data: Data = None, as_json: Json = False) -> None:
    """List the versions of the read models, and the views that everybody reads.

    Example: `echoic projection list`.
    """

    async def run(connection: Connection) -> list[dict[str, object]]:
        with Store(connection.needed_database()) as store:
            return [
                {**asdict(version), "partitions": len(store.positions(version.number))}
                for version in store.versions()
            ]

    rows = on_instance(data, None, run)
    if as_json:
        print_json({"v": 1, "rows": rows, "views": list(KEYS)})
    else:
        print_rows(rows, ("number", "shape", "state", "partitions"), as_json=False)
        note("views: " + ", ".join(KEYS))


@app.command()
def lag(data: Data = None, as_json: Json = False) -> None:
    """Show how far the read models are behind the log.

    Example: `echoic projection lag`. The exit code is 1 if they are behind.
    """

    async def run(connection: Connection) -> list[dict[str, int]]:
        with Store(connection.needed_database()) as store:
            stands = store.positions(store.serving().number)
        rows = []
        for partition in range(PARTITIONS):
            answered = await last_answered(connection.log, partition)
            position = stands.get(partition)
            at = position.sequence if position else 0
            if answered:
                rows.append({"partition": partition, "position": at, "log": answered})
        return rows

    rows = on_instance(data, None, run)
    behind = sum(row["position"] < row["log"] for row in rows)
    print_rows(rows, ("partition", "position", "log"), as_json)
    if behind:
        note(f"{behind} partitions are behind")
        raise typer.Exit(errors.FINDING)
