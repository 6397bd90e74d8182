"""`echoic heuristic`: what was learnt, how far it is trusted, and new lessons."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer
from rich.console import RenderableType

from echoic.cli import heuristic_priors, learning
from echoic.cli.connected import known_at, on_instance
from echoic.cli.options import Call, TextCall, new_app
from echoic.client import heuristics
from echoic.client.connection import Connection
from echoic.client.heuristics import LEVEL, Learnt, Measures, measures
from echoic.client.names import heuristic_names, resolve
from echoic.client.publish import tell
from echoic.client.read_models import up_to_date
from echoic.terminal.called import as_typed
from echoic.terminal.output import note
from echoic.terminal.output import show as show_screen
from echoic.terminal.screen import bar, number, pairs, short, table, words
from schemas.messages.controls import HeuristicFrozen, HeuristicSeeded
from schemas.values.lazily import Lazily
from schemas.values.reasons import ResponseType

if TYPE_CHECKING:
    from projections.store import queries
else:
    queries = Lazily("projections.store.queries")

app = new_app("heuristic", "Heuristics: list, show, seed, freeze, history.")
app.command(name="history")(learning.history_)
app.command()(learning.diff)
app.command(name="near-misses")(learning.near_misses_)


@app.command(name="list")
def list_(call: Call) -> None:
    """List the heuristics of the agent, the most used first.

    Examples: `echoic heuristic list`, `echoic heuristic list --agent steve --json`.
    """
    found = sorted(
        on_instance(call, _learnt), key=lambda each: (-each.fires, each.name)
    )
    # The wall clock, not the agent's: staleness is a question of the person who looks.
    days, now = call.settings["learning.stale_days"], datetime.now(UTC)
    rows = [_row(each, is_stale=each.is_stale(now, days)) for each in found]
    header = (
        "id",
        "name",
        "domain",
        "trust",
        number("declared"),
        number("fires"),
        "life",
    )
    call.show_rows(found, header, rows)


@app.command()
def show(
    call: Call,
    name: str,
    sessions: Annotated[
        list[str] | None, typer.Argument(metavar="[SESSION|FILE]...")
    ] = None,
    has_curve: Annotated[bool, typer.Option("--curve")] = False,
) -> None:
    """Show one heuristic and every change of its confidence, with the reason.

    Examples: `echoic heuristic show drink-now`, `echoic heuristic show drink-now --curve`,
    `echoic heuristic show drink-now --curve packs/survival/recording/evening.echoic`.

    Args:
        name: Its name, or how its id begins.
        sessions: The recordings to draw, with --curve.
        has_curve: Draw its confidence over time.
    """
    if has_curve or sessions:
        learning.curve(call, name, sessions or ())
        return

    async def run(
        connection: Connection,
    ) -> "tuple[Learnt, Measures, tuple[queries.ConfidenceChange, ...]]":
        found = await _one(connection, name)
        async with up_to_date(connection) as store:
            if store is None:
                note("the read models are away: no history")
                return found, measures(found, None), ()
            agent, of = connection.settings.agent, found.id
            fired = queries.fired(store, agent, of, found.content_hash)
            return found, measures(found, fired), queries.history(store, agent, of)

    found, measured, changes = on_instance(call, run)
    fields = {**asdict(found), "measures": measured, "history": changes}
    call.show(fields, _screen(found, measured, changes))


@app.command()
def seed(
    call: Call,
    condition: Annotated[str, typer.Option()],
    say: Annotated[str, typer.Option()],
    name: str | None = None,
    domain: str = "user",
    when: str | None = None,
    confidence: Annotated[float, typer.Option(min=0.0, max=1.0)] = 0.5,
    response_type: Annotated[ResponseType, typer.Option("--type")] = "suggestion",
) -> None:
    """Teach a heuristic: in such a situation, say this.

    Example: `echoic heuristic seed --domain kitchen --condition "the oven is done" --say
    "Your cake is ready." --confidence 0.8`.

    Args:
        condition: The situation, in words.
        say: What to say then.
        name: What to call it.
        domain: The pack or source whose events it may answer.
        when: What must hold of the event's fields besides.
        confidence: How far to trust it.
        response_type: What sort of answer it gives.
    """
    id_ = str(uuid4())
    lesson = HeuristicSeeded(
        heuristic_id=id_,
        name=name or short(id_),
        domain=domain,
        condition=condition,
        when=when,
        response_type=response_type,
        text=say,
        confidence=confidence,
    ).checked()

    async def run(connection: Connection) -> list[str]:
        log, agent = connection.log, connection.settings.agent
        # A name given twice is most often a lesson that was to be mended.
        known = await heuristic_names(log, agent) if name else {}
        await tell(log, agent, lesson)
        return [each for each, known_as in known.items() if known_as == name]

    alike = on_instance(call, run)
    settings = call.settings
    called = f"{lesson.name} ({id_[:8]})" if name else id_[:8]
    call.show(
        {"heuristic_id": id_}, [f"taught {settings.agent} the heuristic {called}"]
    )
    if not call.as_json:
        for line in _surprises(lesson, settings["threshold"], alike):
            note(line)


def _surprises(
    lesson: HeuristicSeeded, threshold: float, alike: Sequence[str]
) -> Iterator[str]:
    """Say what a first lesson may surprise by, as lines.

    Args:
        lesson: What was taught.
        threshold: The confidence from which heuristics speak.
        alike: Ids of those that were called so before.
    """
    for each in alike:
        yield (
            f"another is called {lesson.name} and goes on answering\n  → "
            + as_typed(f"echoic heuristic freeze {short(each)}, to put it out of force")
        )
    # The most common one: it matches, and yet says nothing.
    if lesson.confidence < threshold:
        named = short(lesson.heuristic_id) if alike else shlex.quote(lesson.name)
        yield (
            f"it speaks from a confidence of {threshold:.2f} on: seed it with that, or let"
            f" `echoic feedback {named} up --heuristic` move it there"
        )


@app.command()
def freeze(call: TextCall, name: str, off: bool = False, reason: str = "") -> None:
    """Keep a heuristic from firing, or release it.

    Examples: `echoic heuristic freeze drink-now`, `echoic heuristic freeze drink-now --off`.

    Args:
        name: Its name, or how its id begins.
        off: Release it again.
        reason: The reason.
    """

    async def run(connection: Connection) -> Learnt:
        found = await _one(connection, name)
        control = HeuristicFrozen(heuristic_id=found.id, frozen=not off, reason=reason)
        await tell(connection.log, connection.settings.agent, control)
        return found

    found = on_instance(call, run)
    show_screen(f"{found.name} is {'released' if off else 'frozen'}")


app.command()(heuristic_priors.prior)


async def _learnt(connection: Connection) -> list[Learnt]:
    return await heuristics.learnt(connection.log, await known_at(connection))


async def _one(connection: Connection, name: str) -> Learnt:
    known = {each.id: each for each in await _learnt(connection)}
    return known[resolve({id_: known[id_].name for id_ in known}, name)]


def _row(each: Learnt, *, is_stale: bool) -> tuple[object, ...]:
    trust = f"{bar(each.confidence)} {each.confidence:.2f}"
    life = each.lifecycle + (", stale" if is_stale else "")
    declared = f"{each.declared:.2f}"
    return short(each.id), each.name, each.domain, trust, declared, each.fires, life


def _screen(
    found: Learnt, measured: Measures, changes: "Sequence[queries.ConfidenceChange]"
) -> Iterator[RenderableType]:
    page = {
        "name": f"{found.name} ({found.id})",
        "domain": f"{found.domain}, {found.origin}",
        "condition": found.condition,
        "when": found.when or "-",
        "says": found.text,
        **_lines(found, measured),
        "life": found.lifecycle,
    }
    yield pairs(page, 0)
    if changes:
        header = (number("seq"), "at", "why", words("detail"), "trust")
        yield ""
        yield table(header, map(_step, changes))


def _step(change: "queries.ConfidenceChange") -> tuple[object, ...]:
    before = "" if change.before is None else f"{change.before:.2f} → "
    at = f"{change.at:%Y-%m-%d %H:%M:%S}"
    trust = f"{before}{change.after:.2f}"
    return change.sequence, at, change.why, change.detail, trust


def _lines(found: Learnt, measured: Measures) -> dict[str, str]:
    """Return the measures for a person to read."""
    match = "never fired"
    if measured.similarity is not None:
        match = (
            f"{measured.similarity:.2f} on average when it fired (n={measured.matches})"
        )
    success = "no fire was judged"
    if measured.rate is not None:
        success = f"{measured.rate:.0%} of {measured.judged} judged fires"
    return {
        "match": match,
        "trust": (
            f"{found.confidence:.3f}, {LEVEL:.0%} between {measured.low:.2f} and"
            f" {measured.high:.2f} (declared {found.declared:.2f})"
        ),
        "success": f"{success}; fired {found.fires}",
    }
