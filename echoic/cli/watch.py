"""`echoic watch`, `explain` and `state`: what was decided, why, and what is known."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated

import typer
from msgspec import to_builtins

from echoic.cli import moments
from echoic.cli.connected import known_at
from echoic.cli.options import Agent, Data, Json, new_app, settings_of
from echoic.client import decision_record, find, known_agents
from echoic.client import state as remembering
from echoic.client.connection import Connection, connect
from echoic.client.decision_record import Account, Accounts
from echoic.client.names import Names, heuristic_names
from echoic.client.watch import answered, last_answered
from echoic.config.load import Settings
from echoic.errors import EchoicError, NotFoundError
from echoic.explain import explain
from echoic.explain.explain import Explanation
from echoic.terminal import decisions, lessons
from echoic.terminal.output import has_colour, note, print_json, say, terminal_width
from schemas.codec.envelope import Input, Output
from schemas.messages.controls import HeuristicEdited
from schemas.messages.learning import HeuristicFormed
from schemas.values.subjects import partition_of

app = new_app("watching", "What was decided, and why.")


@app.command()
def watch(
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", help="Stop after so many.")
    ] = None,
    data: Data = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Show each decision as it is made, and what is learnt of models, until Ctrl-C.

    Examples: `echoic watch`, `echoic watch --json | jq .silence`.
    """
    asyncio.run(_watch(settings_of(data, agent), limit, as_json))


@app.command(name="explain")
def explain_(
    id_: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Its id, or how that begins.")
    ] = None,
    last: Annotated[bool, typer.Option("--last", help="The last decision.")] = False,
    last_silent: Annotated[
        bool, typer.Option("--last-silent", help="The last silence.")
    ] = False,
    what_if: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NUMBER", help="Suppose another number."),
    ] = None,
    data: Data = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Say why a decision came out as it did, from the log alone.

    Examples: `echoic explain --last-silent`, `echoic explain 01a1fc31 --what-if
    threshold=0.6`.
    """
    if (id_ is not None) + last + last_silent > 1:
        raise EchoicError("give one of ID, --last and --last-silent")
    suppositions = dict(_supposition(text) for text in what_if or ())

    async def run() -> tuple[Account, Explanation]:
        async with connect(settings_of(data, agent)) as connection:
            await known_agents.check(connection)
            account = await _account(connection, id_, last_silent)
            names = await heuristic_names(connection.log, account.agent)
            return account, explain.explain(account, names, suppositions)

    account, explanation = asyncio.run(run())
    if as_json:
        print_json(_as_fields(account, explanation))
    else:
        say(decisions.explained(account, explanation, _style()))


@app.command()
def state(
    agent: Annotated[
        str | None, typer.Argument(help="The companion; else ECHOIC_AGENT.")
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="SEQ|TIME", help="As of then.")
    ] = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Show what the mind knows of an agent, now or at any time before.

    A time is `10:00`, `5 minutes ago`, `now` or one in full.

    Examples: `echoic state`, `echoic state steve --at 2026-11-21T12:00:00Z`, `echoic state
    --at '5 minutes ago'`.
    """
    sequence, moment = _place(at)
    settings = settings_of(data, agent)

    async def run() -> tuple[remembering.Remembered, Names]:
        async with connect(settings) as connection:
            found = await known_at(connection, sequence, moment)
            return found, await heuristic_names(connection.log, settings.agent)

    found, names = asyncio.run(run())
    fields = remembering.as_fields(found, settings.agent)
    if as_json:
        print_json(fields)
    else:
        print(decisions.known(fields, names))


async def _watch(settings: Settings, limit: int | None, as_json: bool) -> None:
    agent = settings.agent
    async with connect(settings) as connection:
        names = await heuristic_names(connection.log, agent)
        position = await last_answered(connection.log, partition_of(agent))
        note(f"watching {agent}; Ctrl-C ends")
        try:
            await known_agents.check(connection)
        except NotFoundError as error:
            note(error.what)
        if not as_json:
            note(decisions.heading(_style()))
        count = 0
        told = Accounts()
        async for taken, outputs in answered(connection.log, agent, position):
            found = told.take(taken, outputs)
            if _is_renamed(taken) or any(_is_news(each, names) for each in found):
                names = await heuristic_names(connection.log, agent)
            for account in found:
                if as_json:
                    print_json(decision_record.as_fields(account))
                elif account.is_final:
                    print(decisions.line(account, names, _style()), flush=True)
                count += account.is_final
                if count == limit:
                    return
            if not as_json:
                names = _show_lessons(outputs, names)


def _is_renamed(taken: Input) -> bool:
    return isinstance(taken.message, HeuristicEdited)


def _is_news(account: Account, names: Names) -> bool:
    """Whether a heuristic answers that was loaded or taught since the names were read."""
    return account.heuristic_id is not None and account.heuristic_id not in names


def _show_lessons(outputs: Sequence[Output], names: Names) -> Names:
    """Show what a group taught; return the names with those of what was formed."""
    for output in outputs:
        message = output.message
        if isinstance(message, HeuristicFormed):
            names = {**names, message.heuristic_id: message.name}
        line = lessons.lesson(message, names)
        if line is not None:
            shown = f"{output.at.astimezone():%H:%M:%S} {decisions.visible(line)}"
            print(_style().paint(shown, "dim"), flush=True)
    return names


async def _account(
    connection: Connection, id_: str | None, last_silent: bool
) -> Account:
    log, agent = connection.log, connection.settings.agent
    if id_ is not None:
        return await find.find_decision(log, agent, id_)
    return await find.last_decision(log, agent, silent=last_silent)


def _supposition(text: str) -> tuple[str, float]:
    name, equals, number = text.partition("=")
    try:
        if equals:
            return name.strip(), float(number)
    except ValueError:
        pass
    raise EchoicError(f"{text!r} supposes nothing", next_step="--what-if threshold=0.6")


def _place(text: str | None) -> tuple[int | None, datetime | None]:
    """A sequence or a time."""
    if text is None:
        return None, None
    if text.isdecimal():
        return int(text), None
    return None, moments.moment(text, "--at")


def _as_fields(account: Account, explanation: Explanation) -> dict[str, object]:
    told = asdict(explanation) | {
        "gates": to_builtins(explanation.gates),
        "salience": to_builtins(account.decided.salience),
    }
    return {**decision_record.as_fields(account), "explanation": told}


def _style() -> decisions.Style:
    return decisions.Style(width=terminal_width(), colour=has_colour())
