"""The `map` of a pack's mind: where characters are to be drawn. No decision reads it."""

from typing import Annotated

from pydantic import Field

from schemas.values.base import Name, Part

_Coordinate = Annotated[float, Field(ge=-1e6, le=1e6)]
_Extent = Annotated[float, Field(gt=0.0, le=1e6)]


class Spot(Part):
    """Something that stands there: a house, a river, a counter."""

    name: Name
    x: _Coordinate
    y: _Coordinate
    """Its corner nearest to 0, 0."""
    width: _Extent = 1.0
    height: _Extent = 1.0


class Map(Part):
    """Which fields of a body's report tell where it is and how things are there.

    Dots lead into objects, and into lists by number: `position.0`, `position.-1` the last.
    """

    x: Name = "x"
    y: Name = "y"
    place: Name = "place"
    """What the place is called where it is."""
    weather: Name = "weather"
    hour: Name = "hour"
    """The hour of the day, 0 to 24."""
    size: tuple[_Extent, _Extent] | None = None
    """How far it goes from 0, 0; None: as far as somebody was."""
    is_upward: bool = False
    """Whether y grows upwards."""
    spots: tuple[Spot, ...] = Field(default=(), max_length=64)
