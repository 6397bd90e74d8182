"""A scene: all characters at a time, folded from the groups of their logs.

What a character does is what its log asks the world to do, whichever layer decided it. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from echoic.client.plan_words import changed
from echoic.scene.figures import Deed, Figure, Happening, Kind, Said, lasts
from handlers.mind.characters import reflexes
from handlers.mind.characters.place.scheduler import seconds_of
from schemas.codec.envelope import Input, Output
from schemas.messages.arms import Action
from schemas.messages.asks import DeliveryAsked
from schemas.messages.conversations import ConversationMoved
from schemas.messages.decisions import Completed, Decided, Dropped, LayerVerdict
from schemas.messages.notes import ControlInferred
from schemas.messages.sensing import EventRef, Sensed
from schemas.packs.compiled import CompiledPack
from schemas.state.character import Character
from schemas.values.subjects import AGENT_SOURCE

_OPEN = 256
"""Decisions of one character whose end is waited for at most."""


class Scene:
    """Everybody at a time; mutable, changed by each group that it takes."""

    def __init__(self) -> None:
        """Start with nobody."""
        self.figures: dict[str, Figure] = {}
        self.at: datetime | None = None
        """The time of the latest group."""
        self.extent: tuple[float, float, float, float] | None = None
        """Where anybody ever was: least x and y, greatest x and y."""
        self._bodies: dict[str, frozenset[str]] = {}
        """By agent: the types of events that report a body."""
        self._decided: dict[str, dict[str, tuple[str, str]]] = {}
        """By agent: layer and reason of its latest decisions, by id."""

    def know(self, agent: str, packs: Sequence[CompiledPack]) -> None:
        """Learn from its packs what a character is; a place is drawn nowhere."""
        pack = next((each.pack for each in packs if each.pack.mind is not None), None)
        if pack is None:
            return
        figure = self._figure(agent)
        figure.mind = pack.mind
        bodies = (each.type for each in pack.events if each.means == "body")
        self._bodies[agent] = frozenset(bodies)

    def begin(self, agent: str, known: Character) -> None:
        """Take over what was known of a character before the first group."""
        figure = self._figure(agent)
        self._told(figure, known.body.fields)
        if figure.mind is not None and known.body.at is not None:
            fields = reflexes.fields_at(known, figure.mind, known.body.at)
            figure.absent = _absent(reflexes.absence(figure.mind, fields))
        doing = known.doing
        if doing is not None:
            figure.deed = Deed(
                id=doing.decision_id,
                event_id="",
                what=_words(doing.behaviour),
                layer=doing.layer,
                why="",
                since=doing.since,
                until=doing.until,
            )
            figure.layer = doing.layer

    @property
    def drawn(self) -> list[Figure]:
        """Everybody who has a body, by name."""
        found = (self.figures[name] for name in sorted(self.figures))
        return [each for each in found if each.mind is None or each.mind.place is None]

    def take(self, input_: Input, outputs: Sequence[Output]) -> list[Happening]:
        """Take a group, and return what it tells of its character."""
        self.at = at = outputs[0].at if outputs else input_.at
        figure, event = self._figure(input_.agent), input_.message
        found: list[Happening] = []
        if isinstance(event, Sensed):
            found += self._sensed(figure, event, at)
        for output in outputs:
            found += self._said(figure, output, at)
        return found

    def _figure(self, name: str) -> Figure:
        return self.figures.setdefault(name, Figure(name))

    def _told(self, figure: Figure, fields: Mapping[str, object]) -> None:
        figure.told(fields)
        if figure.x is not None and figure.y is not None:
            x, y = figure.x, figure.y
            left, top, right, bottom = self.extent or (x, y, x, y)
            self.extent = min(left, x), min(top, y), max(right, x), max(bottom, y)

    def _sensed(
        self, figure: Figure, event: Sensed, at: datetime
    ) -> Iterator[Happening]:
        if event.type in self._bodies.get(figure.name, ("body",)):
            self._told(figure, event.fields)
        deed = figure.deed
        if event.outcome is None or deed is None:
            return
        told = event.in_reply_to
        named = told.event_id if isinstance(told, EventRef) else told
        if named in (deed.id, deed.event_id):
            figure.deed = None
            yield Happening(
                at=at,
                who=figure.name,
                kind="ends",
                what=f"{deed.what}: {event.outcome}",
                layer=deed.layer,
                why=event.reason or "",
                id=deed.id,
            )

    def _said(
        self, figure: Figure, output: Output, at: datetime
    ) -> Iterator[Happening]:
        message = output.message
        match message:
            case Decided():
                yield from self._opened(figure, output.id, message, at)
            case DeliveryAsked():
                yield from self._asked(figure, message, at)
            case Dropped():
                yield from self._dropped(figure, message, at)
            case Completed() if message.choice is not None:
                choice, open_ = message.choice, self._open(figure)
                layer, why = open_.get(message.decision_id, ("autonomous", ""))
                told = choice.fallback or choice.thought or choice.reasoning or why
                open_[message.decision_id] = (layer, told)
            case ControlInferred():
                what = changed(message)
                if what is not None:
                    yield self._planned(figure, message, what, at)
            case ConversationMoved():
                yield from self._moved(figure, message, at)
            case _:
                pass

    def _open(self, figure: Figure) -> dict[str, tuple[str, str]]:
        return self._decided.setdefault(figure.name, {})

    def _opened(
        self, figure: Figure, id_: str, decided: Decided, at: datetime
    ) -> Iterator[Happening]:
        absent = _absent(decided.silence)
        before = figure.absent
        if absent != before:
            figure.absent = absent
            yield Happening(
                at=at,
                who=figure.name,
                kind="is",
                what=f"is {absent or f'{before} no more'}",
            )
        if decided.layer is None:
            return
        figure.layer = decided.layer
        open_ = self._open(figure)
        open_[id_] = (decided.layer, reason(decided.layers or (), decided.layer))
        while len(open_) > _OPEN:
            del open_[next(iter(open_))]

    def _asked(
        self, figure: Figure, asked: DeliveryAsked, at: datetime
    ) -> Iterator[Happening]:
        layer, why = self._open(figure).get(asked.decision_id, ("", ""))
        action = asked.action
        kind: Kind = "says"
        if action is None or action.type in ("speak", "said"):
            who = self._speaker(figure, asked, action)
            if who is None:
                return
            what = asked.text
            seconds = _seconds(action) or seconds_of(what, None, 2.0)
            who.said = Said(what, at, at + timedelta(seconds=seconds))
        elif asked.channel == AGENT_SOURCE:
            return
        else:
            kind, who = "does", figure
            what = _words(action.type, action.params.get("amount"), action.target)
            figure.deed = Deed(
                id=asked.decision_id,
                event_id=asked.event_id,
                what=what,
                layer=layer,
                why=why,
                since=at,
                until=at + lasts(figure.mind, action.type),
            )
        yield Happening(
            at=at,
            who=who.name,
            kind=kind,
            what=what,
            layer=layer,
            why=why,
            id=asked.decision_id,
        )

    def _speaker(
        self, figure: Figure, asked: DeliveryAsked, action: Action | None
    ) -> Figure | None:
        """Return who is heard; None if its place tells later when it begins."""
        if action is None:
            return figure
        if action.type == "speak":
            return self._figure(action.target or figure.name)
        place = self.figures.get(action.target or "")
        has_place = place is not None and place.mind is not None
        return None if has_place else figure

    def _dropped(
        self, figure: Figure, dropped: Dropped, at: datetime
    ) -> Iterator[Happening]:
        found = self._open(figure).get(dropped.decision_id)
        if found is not None:
            yield Happening(
                at=at,
                who=figure.name,
                kind="fails",
                what=_words(dropped.reason),
                layer=found[0],
                why=dropped.detail,
                id=dropped.decision_id,
            )

    def _planned(
        self, figure: Figure, inferred: ControlInferred, what: str, at: datetime
    ) -> Happening:
        return Happening(
            at=at,
            who=figure.name,
            kind="plans",
            what=what,
            layer=inferred.by if inferred.by in ("talker", "executor") else "",
            why=f"before: {inferred.before}" if inferred.before else "",
        )

    def _moved(
        self, place: Figure, moved: ConversationMoved, at: datetime
    ) -> Iterator[Happening]:
        members = moved.after.members if moved.after is not None else ()
        for each in self.figures.values():
            if each.name in members:
                each.talk = moved.conversation_id
            elif each.talk == moved.conversation_id:
                each.talk = None
        for what in moved.what:
            yield Happening(
                at=at, who=place.name, kind="talks", what=what, layer="place"
            )


def reason(verdicts: Sequence[LayerVerdict], layer: str) -> str:
    """Return why a layer acts, as its verdict has it."""
    for each in verdicts:
        if each.layer == layer and each.verdict == "acts":
            rule = f"{each.rule}: " if each.rule and each.rule not in each.why else ""
            return f"{rule}{each.why}"
    return ""


def _absent(silence: str | None) -> str:
    """Return why nobody decides there, in words; empty if somebody does."""
    if silence == "player_controlled":
        return "played"
    return silence if silence in ("asleep", "dead", "locked") else ""


def _words(*parts: object) -> str:
    """Return a name as words: `seek_food` is "seek food"."""
    told = (str(each) for each in parts if isinstance(each, str | int) and each != "")
    return " ".join(told).replace("_", " ")


def _seconds(action: Action | None) -> float | None:
    params: Mapping[str, object] = action.params if action is not None else {}
    told = params.get("seconds")
    is_number = isinstance(told, int | float) and not isinstance(told, bool)
    # An hour of words would be no speech.
    return min(max(float(told), 0.5), 3_600.0) if is_number else None  # type: ignore[arg-type]
