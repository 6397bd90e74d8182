"""`echoic feedback` and `outcome`: what people say of a decision, and how it went."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, get_args

import typer

from echoic import errors
from echoic.cli.connected import decision_named, on_instance
from echoic.cli.options import Call, new_app
from echoic.client import decision_json, publish
from echoic.client.connection import Connection
from echoic.client.names import Names, heuristic_names, named, resolve
from echoic.client.publish import new_event_id
from echoic.errors import EchoicError
from echoic.terminal.called import as_typed
from echoic.terminal.screen import short
from replay.recording.decisions import DecisionRecord
from schemas.codec.catalogue import OutputMessage
from schemas.messages.asks import ModelAsked
from schemas.messages.feedback import Aspect, FeedbackGiven
from schemas.messages.learning import FeedbackApplied, HeuristicFormed
from schemas.messages.sensing import Sensed
from schemas.values.reasons import ReportedOutcome, reported
from schemas.values.subjects import partition_of

_RATINGS: Mapping[str, Literal["positive", "negative"]] = {
    "up": "positive",
    "down": "negative",
}
_UNCREDITED: Mapping[Aspect, str] = {
    "overall": "counted for rapport only: no heuristic answered that",
    "action": "kept; no heuristic answered that",
    "condition": "kept; no heuristic answered that",
}

app = new_app("judging", "What people say of a decision, and how it went.")


@app.command()
def feedback(
    call: Call,
    id_: Annotated[str, typer.Argument(metavar="ID")],
    vote: Literal["up", "down", "1", "2", "3", "4", "5"],
    heuristic: bool = False,
    aspect: Aspect = "overall",
    actor: str = "user",
    comment: str | None = None,
) -> None:
    """Judge a decision, or a heuristic itself; the latest vote of each actor counts.

    A vote on one aspect counts there alone, and takes the place of an earlier one on
    another.

    Examples: `echoic feedback 01a1fc2d up`, `echoic feedback last 2 --aspect action`,
    `echoic feedback creeper-warn down --heuristic`.

    Args:
        id_: The decision, or `last`.
        vote: The judgement; 1 is -1, 3 is 0 and 5 is 1.
        heuristic: ID names a heuristic.
        aspect: What is judged: `condition`, it should not have spoken; `action`, right
            idea, wrong answer; `timing`, the wrong moment.
        actor: Who judges.
        comment: The reason.
    """
    if heuristic and aspect == "timing":
        raise EchoicError(
            "the moment is a decision's: a heuristic itself has no timing",
            next_step=f"echoic feedback last {vote} --aspect timing",
        )

    async def run(connection: Connection) -> tuple[FeedbackApplied, str]:
        log, agent = connection.log, connection.settings.agent
        named = (
            resolve(await heuristic_names(log, agent), id_)
            if heuristic
            else (await decision_named(connection, id_)).id
        )
        given = FeedbackGiven(
            decision_id=None if heuristic else named,
            heuristic_id=named if heuristic else None,
            rating=_RATINGS.get(vote, "scaled"),
            stars=None if vote in _RATINGS else int(vote),
            aspect=aspect,
            actor=actor,
            comment=comment,
            channel="cli",
        ).checked()
        outputs = await publish.tell(log, agent, given)
        messages = [output.message for output in outputs]
        votes = (each for each in messages if isinstance(each, FeedbackApplied))
        # `tell` raises if the vote was refused, so there is one.
        return next(votes), _formed(messages)

    applied, formed = on_instance(call, run)
    call.show(applied.as_fields(whole=True), [_counted(applied, formed)])


def _formed(messages: Sequence[OutputMessage]) -> str:
    """Describe in words what a vote made of what was liked; empty if nothing."""
    for each in messages:
        # After a vote only one thing is asked of a model: the rule
        # of an answer that was liked.
        if isinstance(each, ModelAsked):
            return (
                "counted; the model is turning this answer into a rule:"
                f" {as_typed('echoic heuristic list')}"
            )
        if isinstance(each, HeuristicFormed) and each.is_silence:
            shown = as_typed(f"echoic heuristic show {short(each.heuristic_id)}")
            return f"counted; that silence became a heuristic of its own: {shown}"
    return ""


def _counted(applied: FeedbackApplied, formed: str) -> str:
    """Describe in words what a vote counted for."""
    if applied.aspect == "timing":
        return "counted for rapport; when it was said is no fault of a heuristic"
    if applied.share is not None:
        return f"counted by a share of {applied.share:.2f}: several answers were said as one"
    if applied.heuristic_id:
        return f"counted for the heuristic {short(applied.heuristic_id)}"
    return formed or _UNCREDITED[applied.aspect]


def _reported(told: str) -> str:
    """Return how an outcome is called; refuse what is none."""
    known = get_args(ReportedOutcome)
    if (found := reported(told)) not in known:
        raise typer.BadParameter(f"{told!r} is none of {', '.join(known)}")
    return str(found)


@app.command()
def outcome(
    call: Call,
    id_: Annotated[str, typer.Argument(metavar="ID")],
    result: Annotated[
        ReportedOutcome, typer.Argument(parser=_reported, metavar="RESULT")
    ],
    reason: str | None = None,
) -> None:
    """Report how a decision's advice turned out, and say who is credited.

    The exit code is 1 if nothing was said there, so that it can credit nobody.

    Examples: `echoic outcome 01a1fc2d succeeded`, `echoic outcome last failed --reason
    late`.

    Args:
        id_: The decision, or `last`.
        result: How it went.
        reason: The reason.
    """

    async def run(
        connection: Connection,
    ) -> tuple[DecisionRecord, DecisionRecord, list[str], Names]:
        log, agent = connection.log, connection.settings.agent
        decision = await decision_named(connection, id_)
        report = Sensed(
            source="user",
            type="outcome",
            text=reason or f"That {result}.",
            in_reply_to=decision.id,
            outcome=result,
            reason=reason,
        ).checked()
        # Read before publishing, so that the decision cannot be missed.
        after = await log.last_sequence(f"ev.{partition_of(agent)}.>")
        event_id = new_event_id()
        await publish.publish(connection.client, agent, report, event_id=event_id)
        reported = await publish.decided_on(
            log, agent, "user", "outcome", event_id, after
        )
        credited = await publish.credited_by(log, reported)
        return reported, decision, credited, await heuristic_names(log, agent)

    reported, decision, credited, names = on_instance(call, run)
    call.show(
        {**decision_json.as_fields(reported), "credited": credited},
        [f"reported as {short(reported.id)}: {_credit(decision, credited, names)}"],
    )
    if decision.said is None:
        raise typer.Exit(errors.FINDING)


def _credit(decision: DecisionRecord, credited: Sequence[str], names: Names) -> str:
    """Describe in words which heuristics a report credits, or why none."""
    if credited:
        return "counted for " + ", ".join(named(each, names) for each in credited)
    if decision.said is None:
        return f"it credits nobody, since nothing was said ({decision.silence})"
    if decision.path != "heuristic":
        return "it credits nobody, since a model answered and no heuristic"
    return (
        "it credits nobody: how that turned out is known already, or its time is over"
    )
