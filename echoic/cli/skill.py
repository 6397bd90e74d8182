"""`echoic skill`: how words change, what is known in a context, and what it can do."""

from collections.abc import Mapping

from echoic.cli.connected import known_at, on_instance, send
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from echoic.client.heuristics import packs_of
from projections.folds.executive import skills as in_force
from schemas.messages.executive import SkillLoaded, SkillUnloaded
from schemas.packs import skills
from schemas.state.executive import Executive
from schemas.values.skills import Skill

app = new_app("skill", "How its words change, and what it can do: list, load, unload.")

WAITS: Mapping[in_force.Missing, str] = {
    "unloaded": "unloaded",
    "enabling": "off until it is loaded",
    "context": "in another context",
    "facts": "until known: ",
}


@app.command(name="list")
def list_(call: Call) -> None:
    """List the skills there are, and which are in force.

    Example: `echoic skill list`.
    """

    async def run(connection: Connection) -> list[dict[str, object]]:
        known = await known_at(connection)
        settings = known.shared.settings
        if settings is None or settings.executive is None:
            return []
        packs = await packs_of(connection.log, known)
        found = skills.known(settings.executive, packs)
        return [_row(known.agent.executive, name, found[name]) for name in found]

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
    send(call, SkillLoaded(skill=name))
    call.show({"skill": name}, [f"{name} is loaded from here"])


@app.command()
def unload(call: Call, name: str) -> None:
    """Have a skill in force no more, whatever the context.

    Example: `echoic skill unload sarcasm`.

    Args:
        name: As `echoic skill list` shows it.
    """
    send(call, SkillUnloaded(skill=name))
    call.show({"skill": name}, [f"{name} is unloaded from here"])


def _row(executive: Executive, name: str, skill: Skill) -> dict[str, object]:
    why = in_force.missing(executive, name, skill)
    waits = WAITS[why] if why is not None else ""
    if why == "facts":
        waits += ", ".join(
            each for each in skill.requires if each not in executive.known
        )
    return {
        "in_force": why is None,
        "skill": name,
        "kind": skill.kind,
        "for": skill.context_binding or skill.trait or "",
        "waits": waits,
        "description": skill.description or ", ".join(skill.capabilities),
    }
