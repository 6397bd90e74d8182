"""`echoic status`: what runs, and how it goes, on one screen."""

from collections.abc import Iterator

from echoic.cli.connected import on_instance
from echoic.cli.options import Agent, Data, Json, new_app
from echoic.client import decision_record
from echoic.status import Status, look
from echoic.terminal import decisions
from echoic.terminal.decisions import Style, counted, padded
from echoic.terminal.output import has_colour, print_json, say, terminal_width

app = new_app("status", "What runs, and how it goes, on one screen.")


@app.command()
def status(data: Data = None, agent: Agent = None, as_json: Json = False) -> None:
    """Show what runs, what decides, and what each agent did last.

    Examples: `echoic status`, `echoic status --json`. `echoic doctor` tries what can fail.
    """
    found = on_instance(data, agent, look)
    if as_json:
        lately = [decision_record.as_fields(each) for each in found.lately]
        mind = found.mind.model_dump(exclude_none=True)
        fields = {name: getattr(found, name) for name in _PLAIN}
        print_json({"v": 1, **fields, "mind": mind, "lately": lately})
    else:
        say("\n".join(_lines(found, Style(terminal_width(), has_colour()))))


_PLAIN = (
    "process", "since", "data", "broker", "database", "last_message", "worker",
    "read_models", "quarantine", "agents",
)  # fmt: skip


def _lines(found: Status, style: Style) -> Iterator[str]:
    since = f", since {found.since.astimezone():%Y-%m-%d %H:%M}" if found.since else ""
    process = f", process {found.process}" if found.process else ""
    yield style.paint(f"echoic is up{process}{since}", "bold")
    mind, model = found.mind, found.mind.model
    rows = {
        "data": found.data,
        "broker": f"{found.broker}, {counted(found.last_message, 'message')} so far",
        "database": found.database or "none: there are no read models",
        "read models": found.read_models,
        "worker": found.worker,
        "quarantine": found.quarantine,
        "mind": f"{mind.strategy.name}, threshold {mind.threshold:g}",
        "model": model.name if model else "none: only what was learnt answers",
        "agents": str(found.agents) if found.agents else 'none yet: echoic pub "hello"',
    }
    yield from (f"  {padded(name, 12)} {value}" for name, value in rows.items())
    for account in found.lately:
        said = f"“{account.said}”" if account.said else f"silent: {account.silence}"
        words = f"{account.event_text} → {said}"
        yield (
            f"    {decisions.fitted(account.agent, 14)} {account.at.astimezone():%m-%d %H:%M}"
            f"  {decisions.fitted(words, max(30, style.width - 32)).rstrip()}"
        )
