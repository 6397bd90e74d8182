"""`echoic status`: what runs, and how it goes, on one screen."""

from collections.abc import Iterator

from rich.console import RenderableType

from echoic.cli.connected import on_instance
from echoic.cli.options import Call, new_app
from echoic.client import decision_json, peace
from echoic.status import Status, look
from echoic.terminal.called import as_typed
from echoic.terminal.decisions import unsaid
from echoic.terminal.screen import counted, cut, pairs, table, text
from handlers.mind.strategies.spec import text_of
from replay.recording.decisions import DecisionRecord
from schemas.values.model_settings import chain_in_words

app = new_app("status", "What runs, and how it goes, on one screen.")


@app.command()
def status(call: Call) -> None:
    """Show what runs, what decides, and what each agent did last.

    Examples: `echoic status`, `echoic status --json`. `echoic doctor` tries what can fail.
    """
    found = on_instance(call, look)
    lately = [decision_json.as_fields(each) for each in found.lately]
    mind = found.mind.model_dump(exclude_none=True)
    # `lately` and `mind` are objects of their own and are converted above.
    fields = {name: getattr(found, name) for name in _PLAIN}
    call.show({**fields, "mind": mind, "lately": lately}, _screen(found))


_PLAIN = (
    "process", "since", "data", "broker", "database", "last_message", "worker",
    "workers",
    "read_models", "quarantine", "storage", "backups", "peace", "quiet_hours", "fallen",
    "agents",
    "exploration", "packs", "own", "model",
)  # fmt: skip


def _screen(found: Status) -> Iterator[RenderableType]:
    since = f", since {found.since.astimezone():%Y-%m-%d %H:%M}" if found.since else ""
    process = f", process {found.process}" if found.process else ""
    yield text((f"echoic is up{process}{since}", "bold"))
    mind, model = found.mind, found.mind.model
    agents = str(found.agents or as_typed('none yet: echoic pub "hello"'))
    rows = {
        "data": found.data,
        "broker": f"{found.broker}, {counted(found.last_message, 'message')} so far",
        "database": found.database or "none: there are no read models",
        "read models": found.read_models,
        "worker": found.worker,
        "quarantine": found.quarantine,
        "storage": found.storage,
        "backups": found.backups or "",
        "mind": f"{text_of(mind.strategy)}, threshold {mind.threshold:g}",
        "exploration": found.exploration or "",
        "own": "\n".join(found.own),
        "packs": ", ".join(found.packs),
        "model": found.model
        or (
            chain_in_words(model.name)
            if model
            else "none: only what was learnt answers"
        ),
        "agents": agents,
        "quiet": peace.told(found.peace, found.quiet_hours),
        "silent": _fallen(found),
    }
    yield pairs({name: value for name, value in rows.items() if value})
    if found.lately:
        yield table(("", "", cut(), cut()), map(_last, found.lately), 4)


def _fallen(found: Status) -> str:
    """Say where nothing answers any more; empty if nowhere."""
    if not found.fallen:
        return ""
    where = ", ".join(found.fallen)
    return f"{where}: the last trusted heuristic fell → {as_typed('echoic learning report')}"


def _last(record: DecisionRecord) -> tuple[str, ...]:
    said = f"“{record.said}”" if record.said else unsaid(record)
    at = f"{record.at.astimezone():%m-%d %H:%M}"
    return record.agent, at, record.text, f"→ {said}"
