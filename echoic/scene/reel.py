"""A reel: a stretch of time as a page plays it, who was where, did and said what, and when.

Pure. Times are seconds from its beginning. What is longer than a page may be is thinned out,
and the reel says so.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson

from echoic.scene.figures import Figure, Happening
from echoic.scene.recorded import Step
from echoic.scene.scene import Scene
from schemas.packs.characters import Map

LIMIT = 1_700_000
"""The most bytes of a reel as JSON, so that a page with it has less than 2 MB."""

_TEXT = 300
"""How many characters of words and reasons are kept."""
_LIGHT_S = 600.0
"""How often the hour is noted."""

_Row = list[Any]


class _Reel:
    """Collects what a scene shows while it is played from its steps."""

    def __init__(self, scene: Scene, begins: datetime) -> None:
        """Begin at a time, with the scene as it was before."""
        self._scene, self._begins = scene, begins
        self._actors: dict[str, _Actor] = {}
        self.happenings: list[Happening] = []
        self._hours: list[_Row] = []
        self._weather: list[_Row] = []
        self._end = 0.0

    def take(self, step: Step) -> None:
        """Play one step."""
        at, input_, outputs = step
        self.happenings += self._scene.take(input_, outputs)
        now = self._since(at)
        self._end = max(self._end, now)
        for figure in self._scene.figures.values():
            actor = self._actors.get(figure.name)
            if actor is None:
                actor = self._actors[figure.name] = _Actor(figure.name)
            actor.look(figure, now, self._since)
        self._look_around(self._scene.figures[input_.agent], now)

    def fields(self) -> dict[str, Any]:
        """Return it as a page reads it: at most `LIMIT` bytes as JSON."""
        drawn = {each.name: number for number, each in enumerate(self._scene.drawn)}
        actors = [self._actors[name] for name in drawn if name in self._actors]
        told = [self._told(each, drawn) for each in self.happenings]
        found = {
            "begins": self._begins.isoformat(),
            "ends": round(self._end, 1),
            "map": self._map(),
            "who": [each.fields(self._end) for each in actors],
            "hours": self._hours,
            "weather": self._weather,
            "told": told,
            "thinned": "",
        }
        return fitted(found)

    def _since(self, at: datetime) -> float:
        return round(max((at - self._begins).total_seconds(), 0.0), 1)

    def _look_around(self, figure: Figure, now: float) -> None:
        if figure.hour is not None and (
            not self._hours or now - self._hours[-1][0] >= _LIGHT_S
        ):
            self._hours.append([now, round(figure.hour, 3)])
        last = self._weather[-1][1] if self._weather else ""
        if figure.weather and figure.weather != last:
            self._weather.append([now, figure.weather])

    def _told(self, each: Happening, drawn: dict[str, int]) -> _Row:
        who = drawn.get(each.who, -1)
        what = each.what if who >= 0 else f"{each.who}: {each.what}"
        return [
            self._since(each.at),
            who,
            each.kind,
            each.layer,
            what[:_TEXT],
            each.why[:_TEXT],
            each.id[:8],
        ]

    def _map(self) -> dict[str, Any]:
        minds = (each.mind for each in self._scene.drawn if each.mind is not None)
        known = next((each.drawn for each in minds), Map())
        left, top, right, bottom = self._scene.extent or (0.0, 0.0, 1.0, 1.0)
        size = known.size
        # A little air around those who stand at the edge.
        air = max(right - left, bottom - top, 1.0) * 0.06
        box = (left - air, top - air, right - left + 2 * air, bottom - top + 2 * air)
        return {
            "box": [0.0, 0.0, *size] if size is not None else box,
            "is_upward": known.is_upward,
            "spots": [
                [each.name, each.x, each.y, each.width, each.height]
                for each in known.spots
            ],
        }


class _Actor:
    """What one character did so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._moves: list[_Row] = []
        self._deeds: list[_Row] = []
        self._words: list[_Row] = []
        self._absences: list[_Row] = []
        self._talks: list[_Row] = []
        self._deed: object = None
        self._said: object = None
        self._last_look = 0.0

    def look(self, figure: Figure, now: float, since: Any) -> None:
        """Note what is another than before."""
        self._move(figure, now)
        if figure.deed is not self._deed:
            if self._deed is not None:
                self._deeds[-1][1] = min(self._deeds[-1][1], now)
            deed = self._deed = figure.deed
            if deed is not None:
                why = deed.why[:_TEXT]
                self._deeds.append(
                    [now, since(deed.until), deed.what[:_TEXT], deed.layer, why]
                )
        if figure.said is not self._said:
            said = self._said = figure.said
            if self._words:
                self._words[-1][1] = min(self._words[-1][1], now)
            if said is not None:
                self._words.append([now, since(said.until), said.text[:_TEXT]])
        _changed(self._absences, now, figure.absent)
        _changed(self._talks, now, figure.talk or "")

    def _move(self, figure: Figure, now: float) -> None:
        last: _Row = self._moves[-1] if self._moves else [0.0, None, None]
        place = [figure.x, figure.y]
        if place != last[1:]:
            # It stood there until it was looked at last.
            if self._moves and self._last_look > last[0]:
                self._moves.append([self._last_look, *last[1:]])
            self._moves.append([now, *place])
        if figure.reported:
            self._last_look, figure.reported = now, False

    def fields(self, end: float) -> dict[str, Any]:
        """Return it as a page reads it."""
        for each in (*self._deeds, *self._words):
            each[1] = min(each[1], end)
        return {
            "name": self.name,
            "moves": self._moves,
            "deeds": self._deeds,
            "words": self._words,
            "absences": self._absences,
            "talks": self._talks,
        }


def _changed(rows: list[_Row], now: float, value: str) -> None:
    if value != (rows[-1][1] if rows else ""):
        rows.append([now, value])


def fitted(found: dict[str, Any]) -> dict[str, Any]:
    """Return a reel that is small enough: successes go first, then every other position."""
    whole = len(found["told"])
    is_small = _size(found) <= LIMIT
    if not is_small:
        found["told"] = [
            each
            for each in found["told"]
            if each[2] != "ends" or not each[4].endswith(": succeeded")
        ]
    while not is_small and _size(found) > LIMIT:
        for actor in found["who"]:
            for rows in ("moves", "deeds", "words", "absences", "talks"):
                actor[rows] = _thinned(actor[rows])
        found["told"] = _thinned(found["told"])
    if not is_small:
        found["thinned"] = f"{len(found['told']):,} of {whole:,} things that happened"
    return found


def _thinned(rows: list[_Row]) -> list[_Row]:
    return rows[::2] if len(rows) > 1 else []


def _size(found: dict[str, Any]) -> int:
    return len(orjson.dumps(found))


def reel_of(scene: Scene, steps: Sequence[Step]) -> _Reel:
    """Return the reel of a scene and its steps, in order of time; there is one at least."""
    reel = _Reel(scene, steps[0][0])
    for step in steps:
        reel.take(step)
    return reel
