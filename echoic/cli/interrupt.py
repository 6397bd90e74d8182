"""`echoic interrupt`: stop what is being said."""

from typing import Annotated

import typer

from echoic.cli.connected import decision_named, on_instance, send
from echoic.cli.options import Call, new_app
from schemas.messages.executive import OutputInterrupted
from schemas.messages.notes import ControlApplied

app = new_app("interrupt", "Stop what is being said.")


@app.command()
def interrupt(
    call: Call, decision: Annotated[str | None, typer.Argument()] = None
) -> None:
    """Stop what is being said, or the response to a decision, even before it begins.

    What was written has gone out already and stays.

    Examples: `echoic interrupt`, `echoic interrupt 2f0e6c1e-7d0b-5a1c-9f59-0d6f7a3c1b20`.

    Args:
        decision: The only response to stop, by its decision's id, or how that begins.
    """
    if decision is not None:
        named = decision
        decision = on_instance(call, lambda each: decision_named(each, named)).id
    control = OutputInterrupted(decision_id=decision).checked()
    (applied,) = (
        each for each in send(call, control) if isinstance(each, ControlApplied)
    )
    call.show(control.as_fields(), [applied.detail])
