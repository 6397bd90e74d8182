"""`echoic personality`: as whom the companion speaks."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from echoic.cli.connected import known_at, on_instance, send
from echoic.cli.fields import hints, values
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from echoic.client.evidence import recordings
from echoic.client.heuristics import packs_of
from echoic.client.personality import Character, character, now_of
from echoic.client.persons import named
from echoic.client.trials import CALM, SHOWN_BY, Attempt, trials
from echoic.errors import EchoicError
from echoic.packs import personalities, skills
from echoic.terminal import personality as screens
from evaluation.learning.one_voice import VoiceCheck, check
from projections.folds.executive import templates
from replay.recording.outcomes import OutcomeSettings
from replay.recording.recorded_decisions import recorded_decisions
from schemas.messages.executive import PersonalitySelected
from schemas.values.reasons import ResponseType

app = new_app("personality", "As whom it speaks: list, use, show, try, check.")


@app.command(name="list")
def list_(call: Call) -> None:
    """List the personalities that can be used, and which one is.

    Example: `echoic personality list`.
    """
    found = _character(call)
    rows = [
        {
            "personality": name,
            "in_force": name == found.selected,
            "description": found.templates[name].description,
        }
        for name in found.templates
    ]
    cells = (
        ("→" if row["in_force"] else "", row["personality"], row["description"])
        for row in rows
    )
    call.show_rows(rows, ("", "personality", "description"), cells)


@app.command()
def use(call: Call, name: str) -> None:
    """Switch to another personality; `none` switches to no particular one.

    Examples: `echoic personality use butler`, `echoic personality use none`.

    Args:
        name: As `echoic personality list` shows it.
    """
    send(call, PersonalitySelected(template=name).checked())
    call.show({"template": name}, [f"{name} from here"])


@app.command()
def show(call: Call, person: str | None = None) -> None:
    """Show the traits in force, and what moves them.

    Examples: `echoic personality show`, `echoic personality show --person ann`.

    Args:
        person: Towards whom; else towards everybody.
    """
    found = _character(call, person)
    call.show(found.as_fields(), screens.shown(found))


@app.command(name="try")
def _try(
    call: Call,
    event: str,
    says: str = "",
    type: ResponseType = "suggestion",
    detail: str = "",
    context: Annotated[list[str] | None, typer.Option()] = None,
    field: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    hint: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
) -> None:
    """Show what each personality that comes with the program would say of an event.

    In a game, at work and under threat, unless contexts are named. The words are by
    templates, as without a model; it needs no instance.

    Examples: `echoic personality try "Your health is low." --says "Eat something."`,
    `echoic personality try "The wash is done." --context home --context user_struggling`.

    Args:
        event: What happened, in words.
        says: What a heuristic would say of it; else the event's own words.
        type: Of which type that heuristic is.
        detail: What a domain would add to it, such as `{hearts} hearts remaining.`.
        context: In which context: calm, gaming, work, home, general, high_threat,
            opportunity or user_struggling.
        field: A field of the event, for the detail.
        hint: How far it threatens, amuses and so on, from 0 to 1, such as `humor=0.8`.
    """
    wanted = context or ["gaming", "work", "high_threat"]
    allowed = (CALM, *templates.contexts(()), *SHOWN_BY)
    for each in wanted:
        if each not in allowed:
            raise EchoicError(f"no context {each!r}, there are {', '.join(allowed)}")
    attempt = Attempt(
        text=event,
        says=says,
        type=type,
        detail=detail,
        fields=values(field),
        salience=hints(hint),
    )
    found = trials(attempt, personalities.shipped(), skills.shipped(), wanted)
    fields = {**asdict(attempt), "rows": [asdict(each) for each in found]}
    call.show(fields, screens.tried(attempt, found))


@app.command(name="check")
def check_(
    call: Call,
    sessions: Annotated[
        list[str] | None, typer.Argument(metavar="[SESSION|FILE]...")
    ] = None,
) -> None:
    """Check whether what was said is in character, by rules: one voice all along.

    Longer than suits the verbosity, more exclamation marks than suit the enthusiasm,
    sarcasm under threat or where there is to be none.

    Examples: `echoic personality check`, `echoic personality check evening.echoic`.

    Args:
        sessions: Sessions' ids, or files; without any all of the agent's log.
    """
    found = asyncio.run(_checked(call, sessions or ()))
    call.show({"checks": [each.as_json() for each in found]}, screens.checked(found))


async def _checked(call: Call, names: Sequence[str]) -> tuple[VoiceCheck, ...]:
    async with recordings(call.settings, names) as opened:
        found = [
            await recorded_decisions(recording, OutcomeSettings())
            for recording, _ in opened
        ]
    return check([record for each in found for record in each.records])


def _character(call: Call, person: str | None = None) -> Character:
    whom = None if person is None else named(person)

    async def run(connection: Connection) -> Character:
        known = await known_at(connection)
        packs = await packs_of(connection.log, known)
        return character(known, packs, now_of(known.agent), whom)

    return on_instance(call, run)
