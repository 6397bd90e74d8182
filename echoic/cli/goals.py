"""`echoic goals`: what the companion is to help with, always or in one domain."""

from typing import Annotated

import typer

from echoic.cli.connected import known_at, on_instance, send
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from echoic.errors import EchoicError
from echoic.terminal.screen import counted
from projections.folds import goals_and_biases
from schemas.messages.controls import GoalsSet, ProfileSet
from schemas.values.settings import UNSTARTED

app = new_app("goals", "What the companion is to help with: list, set.")

_ALWAYS = "-"
"""Shown in place of the domain of a goal that counts for every event."""


@app.command(name="list")
def list_(call: Call) -> None:
    """List the goals: those for every event, then those of each domain.

    Example: `echoic goals list`.
    """

    async def run(connection: Connection) -> list[dict[str, str]]:
        known = await known_at(connection)
        always = goals_and_biases.own_goals(
            known.agent, known.shared.settings or UNSTARTED
        )
        of_domains = known.agent.domain_goals
        return [
            *({"domain": _ALWAYS, "goal": goal} for goal in always),
            *(
                {"domain": domain, "goal": goal}
                for domain in sorted(of_domains)
                for goal in of_domains[domain]
            ),
        ]

    rows = on_instance(call, run)
    nothing = "no goals yet: echoic goals set 'Sleep well'"
    call.show_rows(rows, ("domain", "goal"), map(dict.values, rows), nothing)


@app.command(name="set")
def set_(
    call: Call,
    goals: Annotated[list[str] | None, typer.Argument(metavar="[GOAL]...")] = None,
    domain: str | None = None,
    is_none: Annotated[bool, typer.Option("--none")] = False,
) -> None:
    """Set the goals of an agent, or of one domain; they take the place of the old ones.

    Examples: `echoic goals set "Sleep well" "Get work done"`, `echoic goals set "Survive
    the night" --domain survival`, `echoic goals set --none --domain survival`.

    Args:
        goals: The goals.
        domain: For whose events they count besides; else for all.
        is_none: No goals from here.
    """
    wanted = tuple(goals or ())
    some_or_none(wanted, is_none, "goals", "echoic goals set 'Sleep well'")
    words = "no goals" if is_none else counted(len(wanted), "goal")
    set_for(call, GoalsSet(goals=wanted, domain=domain).checked(), words)


def some_or_none(given: object, is_none: bool, what: str, example: str) -> None:
    """Require either values or `--none`, not both.

    Raises:
        EchoicError: both are given, or neither.
    """
    # Nothing at all is not taken for `--none`: a forgotten argument must not erase goals.
    if bool(given) == is_none:
        wrong = f"--none takes no {what}" if given else f"name the {what}, or --none"
        raise EchoicError(wrong, next_step=example)


def set_for(call: Call, control: GoalsSet | ProfileSet, words: str) -> None:
    """Send a control that sets goals or biases, and print what is in force from here."""
    send(call, control)
    where = f" for {control.domain}" if control.domain else ""
    call.show(control.as_fields(), [f"{words}{where} from here"])
