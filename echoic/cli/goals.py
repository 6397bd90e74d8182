"""`echoic goals`: what the companion is to help with, always or in one domain."""

from typing import Annotated

import typer

from echoic.cli.connected import known_at, on_instance
from echoic.cli.options import Agent, Data, Json, new_app
from echoic.client.connection import Connection
from echoic.client.publish import tell
from echoic.errors import EchoicError
from echoic.terminal.output import note, print_json, print_rows
from projections.folds import goals as goals_fold
from schemas.messages.controls import GoalsSet
from schemas.values.settings import UNSTARTED

app = new_app("goals", "What the companion is to help with: list, set.")

ALWAYS = "-"
"""What stands for the domain of a goal that counts for every event."""


@app.command(name="list")
def list_(data: Data = None, agent: Agent = None, as_json: Json = False) -> None:
    """List the goals: those for every event, then those of each domain.

    Example: `echoic goals list`.
    """

    async def run(connection: Connection) -> list[dict[str, str]]:
        known = await known_at(connection)
        always = goals_fold.own(known.agent, known.shared.settings or UNSTARTED)
        of_domains = known.agent.domain_goals
        return [
            *({"domain": ALWAYS, "goal": goal} for goal in always),
            *(
                {"domain": domain, "goal": goal}
                for domain in sorted(of_domains)
                for goal in of_domains[domain]
            ),
        ]

    rows = on_instance(data, agent, run)
    if not rows and not as_json:
        note("no goals yet: echoic goals set 'Sleep well'")
        return
    print_rows(rows, ("domain", "goal"), as_json)


@app.command(name="set")
def set_(
    goals: Annotated[
        list[str] | None, typer.Argument(metavar="[GOAL]...", help="The goals.")
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option(help="For whose events they count besides; else for all."),
    ] = None,
    is_none: Annotated[
        bool, typer.Option("--none", help="No goals from here.")
    ] = False,
    data: Data = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Set the goals of an agent, or of one domain; they take the place of the old ones.

    Examples: `echoic goals set "Sleep well" "Get work done"`, `echoic goals set "Survive
    the night" --domain survival`, `echoic goals set --none --domain survival`.
    """
    wanted = tuple(goals or ())
    if bool(wanted) == is_none:
        raise EchoicError(
            "name the goals, or --none" if not wanted else "--none takes no goals",
            next_step="echoic goals set 'Sleep well'",
        )
    control = GoalsSet(goals=wanted, domain=domain)

    async def run(connection: Connection) -> None:
        await tell(connection.log, connection.settings.agent, control)

    on_instance(data, agent, run)
    if as_json:
        print_json({"v": 1, **control.model_dump(exclude_none=True)})
        return
    where = f" for {domain}" if domain else ""
    count = "no goals" if is_none else f"{len(wanted)} goal{'s'[: len(wanted) > 1]}"
    print(f"{count}{where} from here")
