"""`echoic bias`: personality as small adjustments of thresholds."""

from typing import Annotated

import typer

from echoic.cli.connected import known_at, on_instance
from echoic.cli.goals import set_for, some_or_none
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from echoic.config.option import bias_pairs
from echoic.errors import EchoicError
from schemas.messages.controls import ProfileSet

app = new_app("bias", "Small adjustments of thresholds: list, set.")

_ALWAYS = "-"
"""Shown in place of the domain of a bias that counts for every event."""
_EXAMPLE = "echoic bias set confidence_threshold=-0.05"


@app.command(name="list")
def list_(call: Call) -> None:
    """List the agent's own biases: those for every event, then those of each domain.

    Settings and packs may have others, over which these take precedence.

    Example: `echoic bias list`.
    """

    async def run(connection: Connection) -> list[dict[str, object]]:
        agent = (await known_at(connection)).agent
        biases = {_ALWAYS: agent.biases, **agent.domain_biases}
        return [
            {"domain": domain, "bias": name, "by": biases[domain][name]}
            for domain in sorted(biases)
            for name in sorted(biases[domain])
        ]

    rows = on_instance(call, run)
    nothing = f"no biases of its own yet: {_EXAMPLE}"
    call.show_rows(rows, ("domain", "bias", "by"), map(dict.values, rows), nothing)


@app.command(name="set")
def set_(
    call: Call,
    biases: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME=NUMBER]...")
    ] = None,
    domain: str | None = None,
    is_none: Annotated[bool, typer.Option("--none")] = False,
) -> None:
    """Set the biases of an agent, or of one domain; they take the place of the old ones.

    `confidence_threshold` is what a heuristic needs to answer by itself: lower is bolder.
    Where a personality template is in force, its own biases count instead.

    Examples: `echoic bias set confidence_threshold=-0.05`, `echoic bias set
    confidence_threshold=0.1 --domain survival`, `echoic bias set --none`.

    Args:
        biases: Each from -0.1 to 0.1.
        domain: For whose events; else for all.
        is_none: No biases from here.
    """
    some_or_none(biases, is_none, "biases", _EXAMPLE)
    try:
        wanted = bias_pairs(biases or ())
    except ValueError as allowed:
        given = " ".join(biases or ())
        # The text of the error is what is allowed; the traceback would add nothing.
        raise EchoicError(f"{given!r}: give {allowed}", next_step=_EXAMPLE) from None
    words = ", ".join(f"{name} {wanted[name]:+g}" for name in sorted(wanted))
    set_for(
        call, ProfileSet(biases=wanted, domain=domain).checked(), words or "no biases"
    )
