"""What models were asked for a decision and what they sent, on a page of a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from echoic.explain.exchanges import Exchange, Reply
from echoic.terminal.screen import text, verbatim


def screen(found: Sequence[Exchange]) -> Iterator[RenderableType]:
    """Yield each call with its prompt and its reply."""
    if not found:
        yield "No model was asked."
    for each in found:
        yield ""
        yield text((f"asked {each.model} ({each.purpose})", "bold"))
        yield from _part("it was told", each.system)
        for role, words in each.turns:
            yield from _part(f"before, as turn of the {role}", words)
        yield from _part("it was asked", each.prompt)
        for before in each.tried:
            why = f"{before.model} was asked before it: {before.reason}"
            yield from _part(why, before.text or before.detail)
        if each.reply is None:
            yield "no reply is in the log"
        else:
            yield from _reply(each.reply)


def _reply(reply: Reply) -> Iterator[RenderableType]:
    ended = f", which ended by {reply.finish_reason!r}" if reply.finish_reason else ""
    yield from _part(f"it sent{ended}", reply.content or "nothing")
    kept = {
        "it thought": reply.reasoning,
        "it called": reply.tool_calls,
        "it refused": reply.refusal,
        "unusable": reply.fault,
    }
    for name, content in kept.items():
        if content:
            yield from _part(name, content)
    if reply.said is not None:
        yield from _part("read as", reply.said or "the choice to say nothing")


def _part(name: str, content: str) -> Iterator[RenderableType]:
    yield text((name, "dim"))
    yield verbatim(content)
