"""By which layers characters decided, as a table."""

from collections.abc import Iterator, Mapping

from rich.console import RenderableType

from echoic.scene.shares import Shares
from echoic.terminal.screen import cut, number, table, text


def screen(found: Mapping[str, Shares]) -> Iterator[RenderableType]:
    """Yield a line for each character, and what the shares are of."""
    layers = dict.fromkeys(layer for each in found.values() for layer in each.layers)
    header = (
        cut("agent"),
        *(number(layer) for layer in layers),
        number("nothing"),
        number("no model"),
        number("of all"),
        number("calls"),
        number("an hour"),
    )
    yield table(header, (_row(name, found[name], layers) for name in found))
    yield text(
        (
            "no model: of the decisions to act; of all: of the occasions at which nothing"
            " was due, too; an hour: calls of a model",
            "dim",
        )
    )


def _row(name: str, each: Shares, layers: Mapping[str, None]) -> tuple[str, ...]:
    return (
        name,
        *(f"{each.layers[layer]:,}" for layer in layers),
        f"{each.nothing:,}",
        _share(each.without_model),
        _share(each.without_model_of_all),
        f"{each.calls:,}",
        "-" if each.calls_an_hour is None else f"{each.calls_an_hour:.1f}",
    )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
