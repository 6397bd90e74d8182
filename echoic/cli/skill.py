"""`echoic skill`: how words change, what is known in a context, and what it can do."""

from echoic.cli.connected import known_at, on_instance, send
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from echoic.client.heuristics import packs_of
from echoic.client.personality import now_of
from echoic.client.skills import skill_rows
from schemas.messages.executive import SkillLoaded, SkillUnloaded

app = new_app("skill", "How its words change, and what it can do: list, load, unload.")


@app.command(name="list")
def list_(call: Call) -> None:
    """List the skills there are, and which have a say now; of the others why not.

    Example: `echoic skill list`.
    """

    async def run(connection: Connection) -> list[dict[str, object]]:
        known = await known_at(connection)
        packs = await packs_of(connection.log, known)
        return [
            each.as_json() for each in skill_rows(known, packs, now_of(known.agent))
        ]

    rows = on_instance(call, run)
    header = ("", "skill", "kind", "for", "not in force", "description")
    cells = (("" if row["waits"] else "→", *list(row.values())[1:]) for row in rows)
    call.show_rows(rows, header, cells, "no skills: packs bring them")


@app.command()
def load(call: Call, name: str) -> None:
    """Enable a capability, or have another skill in force in every context.

    Examples: `echoic skill load phone/place`, `echoic skill load sarcasm`.

    Args:
        name: As `echoic skill list` shows it.
    """
    send(call, SkillLoaded(skill=name).checked())
    call.show({"skill": name}, [f"{name} is loaded from here"])


@app.command()
def unload(call: Call, name: str) -> None:
    """Switch a skill off in every context.

    Example: `echoic skill unload sarcasm`.

    Args:
        name: As `echoic skill list` shows it.
    """
    send(call, SkillUnloaded(skill=name).checked())
    call.show({"skill": name}, [f"{name} is unloaded from here"])
