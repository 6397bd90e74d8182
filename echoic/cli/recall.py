"""`echoic recall`: what happened, and was said, that is like a text."""

from dataclasses import asdict
from typing import Annotated

import typer

from echoic.cli.connected import on_instance
from echoic.cli.options import Call, new_app
from echoic.client.recall import recalled

app = new_app("recall", "What was said about something.")


@app.command()
def recall(
    call: Call,
    text: str,
    person: str | None = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 10,
) -> None:
    """Recall what happened that is like a text, and what was said then.

    It is found by the meaning of what happened, the nearest first, in the read models; or
    in the log, where nothing is in those.

    Examples: `echoic recall "the washing machine"`, `echoic recall zombies --limit 3`.

    Args:
        text: What it was about.
        person: Only what this person said, or what concerns nobody else.
        limit: How many at most.
    """
    found = on_instance(
        call, lambda connection: recalled(connection, text, person, limit)
    )
    rows = [asdict(each) for each in found]
    shown = (
        (
            f"{each.at.astimezone():%Y-%m-%d %H:%M}",
            f"{each.similarity:.2f}",
            each.person or each.source,
            each.text,
            each.said or "",
        )
        for each in found
    )
    header = ("at", "alike", "from", "what happened", "what was said")
    call.show_rows(rows, header, shown, "nothing like that is remembered")
