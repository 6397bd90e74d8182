"""What decisions, lessons and states look like in a terminal, a line each.

Pure; the words are the same without colour.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from echoic.client.names import Names, named
from echoic.client.peace import lasting
from echoic.explain.characters import acts
from echoic.terminal.screen import (
    PLAIN,
    Terminal,
    bar,
    counted,
    figure,
    pairs,
    rendered,
    short,
    table,
    text,
)
from replay.recording.decisions import DecisionRecord
from schemas.codec.catalogue import OutputMessage
from schemas.messages.learning import (
    CandidateRefused,
    Endorsed,
    HeuristicFormed,
    HeuristicReinforced,
    SilenceWeighed,
)
from schemas.state.proposals import Proposal
from schemas.values.lazily import Lazily
from schemas.values.settings import UNSTARTED

if TYPE_CHECKING:
    from rich import table as tables
    from rich.console import RenderableType
    from rich.text import Text

    from echoic.client import state as states
    from echoic.client.state import AgentSnapshot
    from echoic.terminal import characters
else:
    # Only a state on a page takes these.
    tables = Lazily("rich.table")
    states = Lazily("echoic.client.state")
    characters = Lazily("echoic.terminal.characters")

_BADGES = {"heuristic": "S1", "llm": "S2", "fallback": "S2"}
_LATENCY = 5
_WIDE_ONLY = (1, _LATENCY)
"""Columns of a line for which a narrow terminal has no room: source and latency."""


def line(
    record: DecisionRecord, names: Names, terminal: Terminal = PLAIN
) -> "RenderableType":
    """Return one decision on one line: when, who, what, how much it mattered, and the answer.

    A narrow terminal has no room for who noticed it, the bar and the latency.
    """
    decided = record.decided
    salience = decided.salience.effective
    return _row(
        terminal,
        f"{record.at.astimezone():%H:%M:%S}",
        decided.source,
        record.text,
        figure(salience)
        if terminal.is_narrow
        else f"{bar(salience)} {figure(salience)}",
        _answer(record, names),
        f"{record.latency_ms:.0f} ms",
        text((short(record.id), "dim")),
    )


def answered(
    record: DecisionRecord, names: Names, terminal: Terminal = PLAIN
) -> "Iterator[RenderableType]":
    """Yield one decision on one line, and its words below where the line cuts them off."""
    yield line(record, names, terminal)
    if record.said is not None:
        plain, words = Terminal(terminal.width), text(f"“{record.said}”")
        if words.plain not in rendered((line(record, names, plain),), plain):
            yield words


def heading(terminal: Terminal = PLAIN) -> "RenderableType":
    """Return what stands in the columns of the lines."""
    salience = "sal" if terminal.is_narrow else "salience"
    answer = "S1 learnt, S2 a model's"
    return _row(terminal, "time", "source", "event", salience, answer, "latency", "id")


def state(
    found: "AgentSnapshot", agent: str, names: Names
) -> "Iterator[RenderableType]":
    """Yield what is known of an agent, on a page."""
    known = found.agent
    yield agent
    goals = known.domain_goals
    rows = {
        "position": found.position,
        "now": known.now,
        "session": known.session and known.session.id,
        "strategy": found.strategy and found.strategy.name,
        **_character(found),
        **characters.known(known.character, known.now),
        **_peace(found),
        "open fires": len(known.fires),
        "waiting for model": len(known.pending),
        "packs": ", ".join(found.packs),
        "goals": "; ".join(found.goals),
        **{f"goals {domain}": "; ".join(goals[domain]) for domain in sorted(goals)},
        **{f"proposal {each.id}": _proposal(each) for each in known.proposals},
        **{
            f"rapport {person}": f"{bar(known.rapport[person].value)}"
            f" {known.rapport[person].value:.2f}"
            for person in known.rapport.sorted_keys()
        },
    }
    yield pairs({name: value or "-" for name, value in rows.items()})
    beliefs = sorted(
        known.beliefs, key=lambda key: (-known.beliefs[key].fire_count, key)
    )
    yield table(
        ("", "", "", "", ""),
        (
            (
                named(key.partition("@")[0], names),
                f"{bar(belief.confidence)} {belief.confidence:.2f}",
                f"declared {belief.declared:.2f}",
                counted(belief.fire_count, "fire"),
                counted(belief.success_count, "success", "successes"),
            )
            for key in beliefs
            for belief in (known.beliefs[key],)
        ),
        2,
    )


def _row(terminal: Terminal, *cells: "str | Text") -> "RenderableType":
    """Return cells in columns that are the same for every line of a terminal."""
    made = tables.Table.grid(padding=(0, 1, 0, 0), expand=True)
    widths = (8, 9, None, 3 if terminal.is_narrow else 12, None, 8, 8)
    # Three eighths of the room for the event: answers are longer.
    ratios = (None, None, 3, None, 5, None, None)
    shown = [
        index
        for index in range(len(cells))
        if not terminal.is_narrow or index not in _WIDE_ONLY
    ]
    for index in shown:
        made.add_column(
            width=widths[index],
            ratio=ratios[index],
            no_wrap=True,
            justify="right" if index == _LATENCY else "left",
        )
    made.add_row(
        *(
            text(each) if isinstance(each, str) else each
            for each in map(cells.__getitem__, shown)
        )
    )
    return made


def _answer(record: DecisionRecord, names: Names) -> "Text":
    if acts(record):
        return text(*characters.answer(record))
    badge = _BADGES.get(record.path, "- ")
    if record.said is not None:
        return text((badge, "green"), f" {_speaker(record, names)} “{record.said}”")
    return text(f"{badge} ", (unsaid(record), "dim"))


def unsaid(record: DecisionRecord) -> str:
    """Say what became of a decision that said nothing, or not yet."""
    if record.is_final:
        return f"silent: {record.silence}"
    if record.asks_first is not None:
        return f"asks first: “{record.asks_first}”"
    is_ready = record.decided.path in ("heuristic", "proactive")
    return "waits …" if is_ready else "asks the model …"


def _speaker(record: DecisionRecord, names: Names) -> str:
    if record.path == "heuristic":
        name = named(record.heuristic_id, names)
        return f"{name} {figure(record.answer.predicted_success)}"
    if record.path == "acknowledged":
        return "as told"
    if record.path == "proactive":
        return "by itself"
    return str(getattr(record.ending, "model", "model"))


def _character(found: "AgentSnapshot") -> dict[str, str]:
    """Return what moves the traits, where anything does."""
    fields = (
        states.personality_fields(found.agent, found.shared.settings or UNSTARTED) or {}
    )
    # The traits themselves need the packs: `echoic personality show`.
    told = {name: fields[name] for name in ("template", "context") if fields.get(name)}
    mood, moved = fields.get("mood"), fields.get("overrides")
    if isinstance(mood, dict):
        told["mood"] = f"{mood['valence']:+.2f}"
    if isinstance(moved, dict) and any(moved.values()):
        told["traits moved"] = ", ".join(
            f"{trait} {moved[who][trait]:+g} ({who})"
            for who in moved
            for trait in moved[who]
        )
    return {name: str(value) for name, value in told.items()}


def _peace(found: "AgentSnapshot") -> dict[str, str]:
    """Return what keeps it from speaking, and what it is yet to say."""
    held = found.agent.executive
    asked: dict[str, str] = {}
    for each in states.in_force(held.peace.restraints, found.now):
        name = f"{each.mode} for {each.person}" if each.person else each.mode
        asked[name] = lasting(each.until)
    kept = {
        "waits to be said": len(held.waiting),
        "reminders": len(held.reminders.awaited),
    }
    return asked | {name: str(count) for name, count in kept.items() if count}


def _proposal(each: Proposal) -> str:
    if each.inferred is not None:
        return f"{each.status}: {each.inferred.kind}, {each.inferred.in_words}"
    if each.character is not None:
        return f"{each.status}: {each.character.in_words}"
    changes = ", ".join(f"{c.name} {c.before} → {c.after}" for c in each.changes)
    return f"{each.status}: {changes}{each.evidence if each.repertoire else ''}"


def lesson(message: OutputMessage, names: Names) -> str | None:
    """Return what a message tells of learning from models; None if nothing."""
    match message:
        case HeuristicFormed():
            return f"formed {message.name}, trusted {message.confidence:.2f}"
        case HeuristicReinforced(heuristic_id=id_, confidence=confidence):
            return f"reinforced {named(id_, names)}, now trusted {confidence:.2f}"
        case CandidateRefused(reason=reason, detail=detail):
            return f"formed nothing: {reason}{f', {detail}' if detail else ''}"
        case SilenceWeighed(heuristic_id=id_, value=value) if value is not None:
            side = "for" if value > 0.0 else "against"
            return f"one more occasion {side} silence: {named(id_, names)}"
        case Endorsed(heuristic_id=id_, similarity=similarity):
            said = f"the model said the same by itself, like {similarity:.2f}"
            return f"endorsed {named(id_, names)}: {said}"
        case _:
            return characters.news(message)
