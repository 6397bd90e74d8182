"""`echoic heuristic prior`: what heuristics of one origin start from."""

from collections.abc import Mapping
from typing import Annotated

import typer

from echoic.cli.connected import known_at, on_instance
from echoic.cli.options import TextCall
from echoic.client import heuristics
from echoic.client.connection import Connection
from echoic.client.publish import tell
from echoic.errors import EchoicError
from projections.folds.learning import beliefs
from schemas.messages.controls import PriorUpdated
from schemas.state.evidence import Prior, belief_key
from schemas.values.reasons import Origin

_FAIR_STARTS: Mapping[Origin, Prior] = {
    "skill_pack": Prior(kappa=4.0, mean=0.6),
    "learned": Prior(kappa=2.0, mean=0.5),
    "seeded": Prior(kappa=4.0, mean=0.75),
}
"""What `--start` sets. Chosen by judgement, not estimated: what a person teaches is
trusted most."""


def prior(
    call: TextCall,
    origin: Origin,
    kappa: Annotated[float | None, typer.Option(min=0.1, max=1_000.0)] = None,
    mean: Annotated[float | None, typer.Option(min=0.0, max=1.0)] = None,
    start: bool = False,
    pooled: bool = False,
    off: bool = False,
) -> None:
    """Set what confidence heuristics of an origin start with.

    Heuristics with evidence keep theirs.

    Examples: `echoic heuristic prior learned --kappa 2 --mean 0.5`,
    `echoic heuristic prior skill_pack --pooled`, `echoic heuristic prior seeded --off`.

    Args:
        origin: The origin of the heuristics.
        kappa: The weight of the start, in observations.
        mean: The success to start from; else what each one declares.
        start: Take what is a fair start for the origin.
        pooled: Take what was learnt of the origin's so far.
        off: Start from what is declared again.
    """
    # --kappa and --mean are one choice of the four.
    if sum((kappa is not None or mean is not None, start, pooled, off)) != 1:
        raise EchoicError("give one of --kappa and --mean, --start, --pooled, --off")

    async def run(connection: Connection) -> PriorUpdated:
        if off:
            control = PriorUpdated(origin=origin, is_default=True).checked()
        elif pooled:
            control = _updated(origin, await _pooled(connection, origin), "pooled")
        elif start:
            control = _updated(origin, _FAIR_STARTS[origin], "a fair start")
        else:
            given = Prior(kappa=2.0 if kappa is None else kappa, mean=mean)
            control = _updated(origin, given, "")
        await tell(connection.log, connection.settings.agent, control)
        return control

    control = on_instance(call, run)
    if control.is_default:
        print(f"{origin} heuristics start from what is declared, weighed as ever")
        return
    begins = "what is declared" if control.mean is None else f"{control.mean:.2f}"
    print(f"{origin} heuristics start from {begins}, weight {control.kappa:g}")


def _updated(origin: Origin, known: Prior, detail: str) -> PriorUpdated:
    return PriorUpdated(
        origin=origin, kappa=known.kappa, mean=known.mean, detail=detail
    ).checked()


async def _pooled(connection: Connection, origin: Origin) -> Prior:
    known = await known_at(connection)
    keys = [
        belief_key(each.id, each.content_hash)
        for each in await heuristics.learnt(connection.log, known)
        if each.origin == origin
    ]
    believed = known.agent.beliefs
    found = beliefs.pooled(believed[key] for key in keys if key in believed)
    if found is None:
        raise EchoicError(
            f"fewer than {beliefs.LEAST} {origin} heuristics were judged so far:"
            " that says nothing of the others"
        )
    return found
