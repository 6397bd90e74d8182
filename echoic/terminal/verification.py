"""What came of a verification, on the screen and for a program."""

from collections.abc import Iterator
from dataclasses import asdict

from rich.console import RenderableType

from echoic.terminal.screen import counted, marked, number, pairs, short, table
from replay.reread import Rereading
from replay.verify import Verification
from replay.world import WorldVerification


def fields_of(found: Verification | WorldVerification) -> dict[str, object]:
    """Return it as fields for JSON; a world's are those of all, and then each member's."""
    if isinstance(found, Verification):
        return {
            **asdict(found),
            "is_identical": found.is_identical,
            "verdict": found.verdict,
        }
    return {
        **asdict(found.whole),
        "is_identical": found.is_identical,
        "verdict": found.whole.verdict,
        "members": {name: fields_of(each) for name, each in found.members.items()},
        "told": found.told,
        "strays": [asdict(each) for each in found.strays],
    }


def screen_of(found: Verification | WorldVerification) -> Iterator[RenderableType]:
    """Yield what a person is shown."""
    if isinstance(found, WorldVerification):
        yield from _world(found)
        return
    yield marked(
        _mark_of(found),
        f"{found.identical}/{found.total} outputs identical,"
        f" {found.inputs} inputs decided again" + _sealed(found),
    )
    first = found.divergence
    if first is not None:
        place = "" if first.index is None else f", output {first.index}"
        field = "" if first.path is None else f", field {first.path}"
        yield f"first divergence at input {first.sequence}{place}: {first.what}{field}"
        yield pairs(
            {"recorded": first.recorded or "-", "replayed": first.replayed or "-"}
        )


def reread_screen(found: Rereading) -> Iterator[RenderableType]:
    """Yield the replies that are read otherwise today."""
    count = len(found.found)
    yield marked(
        _mark(is_good=not count),
        f"{counted(found.replies, 'reply', 'replies')} read again by reader"
        f" {found.version}, {count} otherwise",
    )
    for each in found.found:
        yield f"decision {short(each.decision_id)}, {each.at.isoformat()}"
        yield pairs({"sent": each.reply, "said": each.recorded, "today": each.today})


def _world(found: WorldVerification) -> Iterator[RenderableType]:
    header = ("agent", number("inputs"), number("identical"), number("outputs"))
    yield table(
        header,
        (
            (name, f"{each.inputs:,}", f"{each.identical:,}", f"{each.total:,}")
            for name, each in found.members.items()
        ),
    )
    for name, each in found.members.items():
        if not each.is_identical:
            yield f"{name}:"
            yield from screen_of(each)
    whole = found.whole
    yield marked(
        _mark_of(whole),
        f"{whole.identical}/{whole.total} outputs identical,"
        f" {whole.inputs} inputs decided again" + _sealed(whole),
    )
    stems = found.told - len(found.strays)
    if found.told:
        yield marked(
            _mark(is_good=not found.strays),
            f"{stems}/{found.told} messages between agents stem from an ask",
        )
    for stray in found.strays:
        yield f"{stray.agent}, message {stray.sequence}: {stray.why}"


def _sealed(found: Verification) -> str:
    forgotten = found.sealed - found.lost
    told = f", {forgotten} sealed: they rest on what was forgotten" * bool(forgotten)
    return told + f", {found.lost} sealed: their keys are missing" * bool(found.lost)


def _mark_of(found: Verification) -> tuple[str, str]:
    return (
        ("!", "yellow")
        if found.verdict == "sealed"
        else _mark(is_good=found.is_identical)
    )


def _mark(*, is_good: bool) -> tuple[str, str]:
    return ("✓", "green") if is_good else ("✗", "red")
