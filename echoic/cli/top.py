"""`echoic top`: how the instance goes, live in a terminal, by its metrics."""

import time
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console, Group
from rich.live import Live

from echoic.cli.keys import is_interactive, single_keys
from echoic.cli.options import InstanceCall, new_app
from echoic.client.instance_note import read_note
from echoic.config.load import Settings
from echoic.config.option import address_of
from echoic.errors import NotRunningError
from echoic.metrics.reading import Figures, Reading, figures, read
from echoic.terminal.output import terminal
from echoic.terminal.top import top as screen

app = new_app("top", "How it goes, live.")


@app.command()
def top(
    call: InstanceCall,
    once: bool = False,
    every: Annotated[float, typer.Option(min=0.5, max=60.0)] = 2.0,
) -> None:
    """Show rates, times and what goes wrong, live, until q or Ctrl-C.

    It reads the metrics that `echoic up` serves to Prometheus. If output is not a
    terminal, one snapshot since the start is printed.

    Examples: `echoic top`, `echoic top --once --json`.

    Args:
        once: Show it once, since the start.
        every: Seconds between two looks.
    """
    url = _url(call.settings)
    first = read(url)
    if once or call.as_json or not is_interactive():
        found = figures(first, None, None)
        call.show(asdict(found), screen(found, url))
        return
    _live(url, first, every)


def _live(url: str, first: Reading, every_s: float) -> None:
    """Show what happened since the look before, until q or Ctrl-C."""
    # The console of the terminal itself, as only rich's knows how to draw over it again.
    console = Console(no_color=not terminal().colour, highlight=False)

    def drawn(found: Figures) -> Group:
        return Group(*screen(found, url))

    before, at = first, time.monotonic()
    with (
        single_keys() as keys,
        Live(drawn(figures(first, None, None)), console=console, screen=True) as shown,
    ):
        while not keys.asked_to_end(every_s):
            now, seconds = read(url), time.monotonic() - at
            shown.update(drawn(figures(now, before, seconds)), refresh=True)
            before, at = now, at + seconds


def _url(settings: Settings) -> str:
    """Return where the instance serves its metrics.

    Raises:
        NotRunningError: none runs here, or it serves none.
    """
    note = None if settings.nats_url else read_note(settings.data)
    if note is not None and note.metrics_url is not None:
        return note.metrics_url
    if note is None and settings.nats_url is None:
        raise NotRunningError(
            f"nothing runs over {settings.data}", next_step="echoic up --detach"
        )
    if note is not None or settings.metrics_listen is None:
        raise NotRunningError(
            "the instance serves no metrics: metrics.listen is off",
            next_step="echoic config show --origin",
        )
    # Where the instance of another machine listens is said by the same setting.
    host, port = address_of(settings.metrics_listen)
    reached = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)
    return f"http://{reached}:{port}/metrics"
