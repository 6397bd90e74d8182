"""`echoic tune`: search for better settings, and propose, apply or revert them."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex
from typing import Annotated
from uuid import UUID

import typer
from msgspec.structs import asdict
from typer.core import TyperGroup

from echoic import errors
from echoic.cli.connected import known_at, on_instance, send
from echoic.cli.options import Call, new_app
from echoic.client import state
from echoic.client.connection import Connection
from echoic.client.evidence import strangers
from echoic.client.holdout import held_out
from echoic.client.tuning import Task, ranges_of, tuned
from echoic.errors import EchoicError
from echoic.terminal import tuning
from echoic.terminal.output import note
from evaluation.tuning.policy_value import Limits
from evaluation.tuning.search import Gain, Trial
from handlers.mind.characters.autonomous.reviewing import PREFIX
from schemas.messages.controls import (
    ProposalApplied,
    ProposalReverted,
    ProposalSubmitted,
)
from schemas.messages.notes import ControlApplied

_OF_OTHERS = "; measured on recordings of others"
"""What the evidence of a proposal says that this agent's log does not bear."""


class _Tune(TyperGroup):
    """The group; without a known command the arguments are those of `search`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Put `search` before arguments that begin with no other command."""
        if args and args[0] not in (*self.commands, "--help"):
            args = ["search", *args]
        return super().parse_args(ctx, args)


app = new_app("tune", "Search for better settings; propose, apply, revert them.")
app.info.cls = _Tune

_ProposalId = Annotated[str, typer.Argument(metavar="ID", help="Which proposal.")]


@app.command()
def search(
    call: Call,
    named: Annotated[list[str], typer.Argument(metavar="PARAM=RANGE|SESSION|FILE")],
    max_model_share: float = 1.0,
    trials: Annotated[int, typer.Option(min=1)] = 100,
    seed: int = 0,
    silence: Annotated[float | None, typer.Option(min=0.0, max=1.0)] = None,
    submit: bool = False,
    is_anyway: Annotated[bool, typer.Option("--anyway")] = False,
) -> None:
    """Search settings on the earlier sessions; judge the best once on the later.

    RANGE is 0.9..1, 0.9..1/11 or 0.9,0.95,1. Learning settings are judged by how well what
    was believed predicted what came, a strategy's parameters by what its decisions would
    have come to, where the recording can tell. The word `search` may be left out.

    Examples: `echoic tune learning.gamma=0.9..1 learning.weights.explicit=0.2..1`, `echoic
    tune strategy.threshold=0.5..0.9 --max-model-share 0.3 --submit`. The exit code is 1 if
    nothing is recommended.

    Args:
        named: What to search, and in which recordings; all of the agent's, if none.
        max_model_share: In which share of decisions a model may be asked.
        trials: How many choices beyond a grid of three.
        seed: The seed of a search beyond a grid.
        silence: The value of silence, for a strategy's parameters; 0.5 if not given.
        submit: Propose what is recommended. Refused if what it was measured against is not
            in force, or the recordings are not this agent's.
        is_anyway: Propose it even from recordings of others; the evidence then says so.
    """
    ranges = ranges_of([each for each in named if _is_parameter(each)])
    names = [each for each in named if not _is_parameter(each)]
    settings = call.settings
    limits = Limits(model_share=max_model_share)
    task, found = asyncio.run(
        tuned(settings, ranges, names, limits, (trials, seed), silence=silence)
    )
    call.show(tuning.as_json(found, task), tuning.screen(found, task))
    # Before submitting: what did not hold on later sessions is never proposed.
    if found.recommended is None:
        raise typer.Exit(errors.FINDING)
    if submit:
        others = () if names == [] else _strangers(call, names)
        if others and not is_anyway:
            raise EchoicError(
                f"not proposed: {_listed(others)} {'is' if len(others) == 1 else 'are'}"
                f" not of {settings.agent} in this instance's log: what was found there"
                " says nothing of it",
                next_step=f"tune on its own sessions: echoic tune {' '.join(ranges)}=…"
                " --submit, or add --anyway",
            )
        _submit(found.recommended, task, call, is_of_others=bool(others))


@app.command(name="list")
def list_(call: Call) -> None:
    """List what was proposed, and what became of it.

    Example: `echoic tune list`.
    """

    found = on_instance(call, known_at).agent.proposals
    if not found and not call.as_json:
        note("nothing was proposed yet")
    rows = [state.proposal_fields(each) for each in found]
    call.show({"rows": rows}, tuning.proposals(found))


@app.command()
def check(
    call: Call,
    proposal_id: _ProposalId,
    named: Annotated[list[str] | None, typer.Argument(metavar="SESSION|FILE")] = None,
) -> None:
    """Check a character's proposal against its recordings.

    Actions that the proposing model was told of do not count. The exit code is 1 if the
    others speak against it.

    Example: `echoic tune check review-3f2a91 yesterday.echoic`.

    Args:
        named: In which recordings; in all of the agent's log, if none.
    """
    if not _holds(call, proposal_id, named or ()):
        raise typer.Exit(errors.FINDING)


@app.command()
def apply(
    call: Call,
    proposal_id: _ProposalId,
    is_anyway: Annotated[bool, typer.Option("--anyway")] = False,
) -> None:
    """Put the changes of a proposal in force.

    What an autonomous character proposes is held against its log first.

    Example: `echoic tune apply tune-3f2a91`.

    Args:
        is_anyway: Even if held-out actions speak against it.
    """
    is_reviewed = proposal_id.startswith(PREFIX)
    if is_reviewed and not is_anyway and not _holds(call, proposal_id, ()):
        note(f"not applied; all the same: echoic tune apply {proposal_id} --anyway")
        raise typer.Exit(errors.FINDING)
    control = ProposalApplied(proposal_id=proposal_id)
    _send_for(control, call, f"in force; back with: echoic tune revert {proposal_id}")


@app.command()
def revert(call: Call, proposal_id: _ProposalId) -> None:
    """Put back what was in force before a proposal.

    Example: `echoic tune revert tune-3f2a91`.
    """
    control = ProposalReverted(proposal_id=proposal_id)
    _send_for(control, call, "what was in force before is again")


def _holds(call: Call, proposal_id: str, named: Sequence[str]) -> bool:
    """Show what recorded actions say of a proposal; false if they speak against it."""
    agent = on_instance(call, known_at).agent
    held = asyncio.run(held_out(call.settings, agent, proposal_id, named))
    fields = {
        "id": proposal_id,
        "change": held.change.as_fields(whole=True),
        "verdict": held.judged.verdict,
        "recorded": held.recorded,
        **held.judged.figures,
    }
    lines = [held.change.in_words, f"{held.judged.verdict}: {held.judged.in_words}"]
    call.show(fields, lines)
    return held.judged.verdict != "worse"


def _is_parameter(text: str) -> bool:
    """Tell whether a setting is meant, though it may be unknown: `learning.gamma=…`."""
    name, equals, _ = text.partition("=")
    # A file may have `=` in its name, and no setting has a `/`.
    return bool(equals) and not Path(text).exists() and "/" not in name


def _strangers(call: Call, names: Sequence[str]) -> Sequence[str]:
    """Return the recordings that are not of this agent in its instance's log."""

    async def epoch(connection: Connection) -> UUID:
        return connection.log.epoch

    return asyncio.run(strangers(call.settings, names, on_instance(call, epoch)))


_LISTED = 2
"""How many recordings are named before the others are counted."""


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    named = ", ".join(names[:_LISTED])
    return f"{named} and {more} more" if more > 0 else named


def _submit(best: Trial, task: Task, call: Call, *, is_of_others: bool) -> None:
    # Six digits: short enough to type, and an agent remembers few proposals.
    proposal_id = f"tune-{token_hex(3)}"
    control = ProposalSubmitted(
        proposal_id=proposal_id,
        changes=dict(best.values),
        evidence=tuning.evidence(best) + (_OF_OTHERS if is_of_others else ""),
        figures=_figures(best),
        baseline={name: task.current[name] for name in best.values},
        by="tune",
    ).checked()
    send(call, control)
    note(f"proposed: echoic tune apply {proposal_id}")


def _figures(best: Trial) -> dict[str, float]:
    figures: dict[str, float | None] = {"holdout_p": best.adjusted_p}
    for name, found in (("search", best.search), ("holdout", best.holdout)):
        if isinstance(found, Gain):
            low, high = found.ci or (None, None)
            figures |= {name: found.value, f"{name}_low": low, f"{name}_high": high}
    return {name: value for name, value in figures.items() if value is not None}


def _send_for(
    control: ProposalApplied | ProposalReverted, call: Call, words: str
) -> None:
    messages = send(call, control)
    applied = next(each for each in messages if isinstance(each, ControlApplied))
    call.show(asdict(applied), [applied.detail])
    if not call.as_json:
        note(words)
