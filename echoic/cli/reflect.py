"""`echoic reflect`: have an autonomous character look back on what it did."""

from typing import Annotated

import typer

from echoic.cli.connected import send
from echoic.cli.options import Call, new_app
from echoic.terminal.output import note
from schemas.messages.asks import ModelAsked
from schemas.messages.characters import ReflectionRequested
from schemas.messages.learning import InsightFormed

app = new_app("reflect", "Have an autonomous character look back on what it did.")


@app.command()
def reflect(
    call: Call, is_review: Annotated[bool, typer.Option("--review")] = False
) -> None:
    """Have an autonomous character look back now, and remember what it finds.

    Its model says what it notices; without one rules do. A review asks its model which
    decisions were good, and proposes what to change: `echoic tune list`.

    Examples: `echoic reflect --agent golem`, `echoic reflect --agent golem --review`.

    Args:
        is_review: Review how it decided, instead.
    """
    control = ReflectionRequested(of="review" if is_review else "reflection")
    messages = send(call, control)
    found = [each.text for each in messages if isinstance(each, InsightFormed)]
    is_asked = any(isinstance(each, ModelAsked) for each in messages)
    call.show({"of": control.of, "is_asked": is_asked, "found": found}, found)
    if is_asked and not call.as_json:
        note("its model is asked; what it finds: echoic log tail")
