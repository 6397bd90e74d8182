"""`echoic fact`: what is so, as people state it; corrected and forgotten by them."""

from typing import Annotated

import typer

from echoic.cli.connected import known_at, on_instance, send
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from schemas.messages.executive import FactStated
from schemas.state.memory import Fact

app = new_app("fact", "What is so, for a model to know: list, set, forget.")


@app.command(name="list")
def list_(call: Call, about: Annotated[str | None, typer.Argument()] = None) -> None:
    """List the facts that were stated, the latest last.

    Examples: `echoic fact list`, `echoic fact list "the boiler"`.

    Args:
        about: Only facts with these words.
    """

    async def run(connection: Connection) -> list[dict[str, object]]:
        known = await known_at(connection)
        facts = known.agent.executive.memory.facts
        return [
            row
            for row in (_row(each, known.name_of(each.person or "")) for each in facts)
            if about is None or about.casefold() in str(list(row.values())).casefold()
        ]

    rows = on_instance(call, run)
    header = ("subject", "relation", "object", "for", "stated by", "since")
    nothing = 'no facts yet: echoic fact set "the boiler" "was serviced in" "May"'
    call.show_rows(rows, header, map(dict.values, rows), nothing)


@app.command(name="set")
def set_(
    call: Call,
    subject: str,
    relation: str,
    object_: Annotated[str, typer.Argument(metavar="OBJECT")],
    person: str | None = None,
) -> None:
    """State a fact; one of the same subject and relation is corrected by it.

    A model is told facts about the person that it answers, and about what the event names.

    Examples: `echoic fact set "the boiler" "was serviced in" May`, `echoic fact set Ada
    likes tea --person ada`.

    Args:
        subject: What it is about.
        relation: What is said of it.
        object_: What it is.
        person: Whom alone it concerns; nobody else is told.
    """
    fact = FactStated(
        subject=subject, relation=relation, object=object_, person=person
    ).checked()
    send(call, fact)
    words = f"remembered: {subject} {relation} {object_}"
    call.show(fact.as_fields(), [words])


@app.command()
def forget(
    call: Call,
    subject: str,
    relation: Annotated[str, typer.Argument()] = "",
    person: str | None = None,
) -> None:
    """Forget a fact, or all that was stated of a subject.

    The log keeps what was said; what the companion knows and a model is told does not.

    Examples: `echoic fact forget "the boiler" "was serviced in"`, `echoic fact forget Ada`.

    Args:
        subject: What it is about.
        relation: What was said of it; else all of it.
        person: Only what concerns this person; else whomever it concerns.
    """
    fact = FactStated(
        subject=subject, relation=relation, object="", person=person, forget=True
    ).checked()
    send(call, fact)
    what = f"{subject} {relation}".strip()
    call.show(fact.as_fields(), [f"forgotten: {what}"])


def _row(fact: Fact, name: str) -> dict[str, object]:
    return {
        "subject": fact.subject,
        "relation": fact.relation,
        "object": fact.object,
        "for": name or "everybody",
        "stated_by": fact.by,
        "since": f"{fact.at.astimezone():%Y-%m-%d %H:%M:%S}",
    }
