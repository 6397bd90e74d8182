"""`echoic context`: what the companion takes part in."""

from echoic.cli.connected import known_at, on_instance, send
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from echoic.client.heuristics import packs_of
from projections.folds.executive import templates
from schemas.messages.executive import ContextSwitched

app = new_app("context", "What it takes part in: list, use.")


@app.command(name="list")
def list_(call: Call) -> None:
    """List the contexts there are, and which one is in force.

    Example: `echoic context list`.
    """

    async def run(connection: Connection) -> list[dict[str, object]]:
        known = await known_at(connection)
        active = known.agent.executive.context
        found = templates.contexts(await packs_of(connection.log, known))
        return [
            {
                "context": name,
                "in_force": active is not None and active.name == name,
                "description": found[name].description,
                "modifiers": dict(found[name].modifiers),
            }
            for name in sorted(found)
        ]

    rows = on_instance(call, run)
    cells = (
        ("→" if row["in_force"] else "", row["context"], row["description"])
        for row in rows
    )
    call.show_rows(rows, ("", "context", "description"), cells)


@app.command()
def use(call: Call, name: str) -> None:
    """Switch to a context; it holds until another one is switched to.

    Examples: `echoic context use gaming`, `echoic context use general`.

    Args:
        name: As `echoic context list` shows it.
    """
    send(call, ContextSwitched(context=name).checked())
    call.show({"context": name}, [f"{name} from here"])
