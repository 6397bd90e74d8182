"""`echoic log segment`: close the streams of the log, and go on in new ones."""

from typing import Annotated

import msgspec
import typer
from rich.console import RenderableType

from echoic.cli.options import InstanceCall
from echoic.run import segmenting
from echoic.terminal.output import note
from echoic.terminal.screen import number, table
from streams.segments import Segments


def segment(
    call: InstanceCall,
    streams: Annotated[int | None, typer.Option(min=1, max=16)] = None,
) -> None:
    """Close the log's open segments, and begin new ones behind them.

    Each partition goes on where it stood. The instance must not run. After a crash the same
    command finishes what was begun. Example: `echoic log segment --streams 4`.

    Args:
        streams: Over how many streams the partitions are divided: 1, 2, 4, 8 or 16. As many
            as now, if it is not given.
    """
    done = segmenting.segment(call.settings, streams, note)
    call.show(msgspec.to_builtins(done), [_screen(done)])


def _screen(segments: Segments) -> RenderableType:
    rows = [
        (
            each.stream,
            each.state,
            f"{each.partitions[0]} to {each.partitions[1]}",
            f"{each.first:,}",
            "" if each.last is None else f"{each.last:,}",
        )
        for each in segments.segments
    ]
    columns = ("stream", "state", "partitions", number("first"), number("last"))
    return table(columns, rows)
