"""What decisions look like in a terminal: one line each, or one explained on a page.

Its rule: pure, text in and text out; colour is a choice of the caller, and the words are
the same without it.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len, set_cell_size

from echoic.client.decision_record import Account
from echoic.client.names import Names, named
from echoic.explain.explain import Explanation, Weighed
from echoic.explain.what_if import opening
from schemas.messages.decisions import Gate
from schemas.values.ids import trace_id

BAR_CELLS = 8
_WIDE = 110
"""From how many columns on a line shows everything."""
_BLOCKS = " ▁▂▃▄▅▆▇"
_BADGES = {"heuristic": "S1", "llm": "S2", "fallback": "S2"}
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""What turns the direction of the text behind it."""
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


@dataclass(frozen=True, slots=True)
class Style:
    """How much room there is, and whether in colour."""

    width: int = 120
    colour: bool = False

    @property
    def is_narrow(self) -> bool:
        """Whether there is no room for all columns."""
        return self.width < _WIDE

    def paint(self, text: str, name: str) -> str:
        """The text in a colour, if there are colours."""
        return f"\x1b[{_CODES[name]}m{text}\x1b[0m" if self.colour else text


PLAIN = Style()


def short(id_: str) -> str:
    """An id as people see it; any unique beginning is accepted back."""
    return id_[:8]


def figure(value: float) -> str:
    """A number from 0 to 1 with two digits: `.82`, `1.0`."""
    return "1.0" if value >= 0.995 else f"{value:.2f}".lstrip("0")


def counted(number: int, one: str, more: str | None = None) -> str:
    """So many of something: `1 fire`, `2 fires`."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def bar(value: float, cells: int = BAR_CELLS) -> str:
    """A number from 0 to 1 as a bar of that many cells."""
    eighths = round(max(0.0, min(1.0, value)) * cells * 7)
    return "".join(
        _BLOCKS[max(0, min(7, eighths - 7 * cell))] if eighths > 7 * cell else "▁"
        for cell in range(cells)
    )


def line(account: Account, names: Names, style: Style = PLAIN) -> str:
    """One decision on one line: when, who, what, how much it mattered, and the answer.

    A narrow terminal has no room for who noticed it, the bar and the latency.
    """
    decided = account.decided
    event_width, answer_width = _widths(style.width)
    salience = decided.salience.effective
    columns = (
        account.at.astimezone().strftime("%H:%M:%S"),
        None if style.is_narrow else fitted(decided.source, 9),
        fitted(account.event_text, event_width),
        None if style.is_narrow else bar(salience),
        f"{figure(salience):>3}",
        _answer(account, names, answer_width, style),
        None if style.is_narrow else f"{account.latency_ms:>5.0f} ms",
        style.paint(short(account.id), "dim"),
    )
    return " ".join(column for column in columns if column is not None)


def heading(style: Style = PLAIN) -> str:
    """What stands in the columns of the lines."""
    event_width, answer_width = _widths(style.width)
    columns = (
        f"{'time':<8}",
        None if style.is_narrow else f"{'source':<9}",
        fitted("event", event_width),
        "sal" if style.is_narrow else f"{'salience':<12}",
        fitted("S1 learnt, S2 a model's", answer_width),
        None if style.is_narrow else f"{'latency':>8}",
        "id",
    )
    return " ".join(column for column in columns if column is not None)


def explained(account: Account, explanation: Explanation, style: Style = PLAIN) -> str:
    """One decision on a page, with the command that asks further."""
    page = (*_page(account, explanation, style), *_further(account, explanation, style))
    return "\n".join(page)


def explained_alone(account: Account, explanation: Explanation, style: Style) -> str:
    """One decision on a page, for an instance that can be asked no more."""
    return "\n".join(_page(account, explanation, style))


def fitted(text: str, width: int) -> str:
    """The text on one line in exactly so many columns."""
    flat = visible(text)
    if cell_len(flat) <= width:
        return padded(flat, width)
    return set_cell_size(flat, width - 1) + "…"


def padded(text: str, width: int) -> str:
    """The text with spaces up to so many columns; a wide character takes two."""
    return text + " " * max(0, width - cell_len(text))


def visible(text: str) -> str:
    """The text on one line, with whatever would command a terminal written out."""
    return "".join(
        repr(each)[1:-1] if _commands(each) else each for each in " ".join(text.split())
    )


def _commands(character: str) -> bool:
    return unicodedata.category(character) == "Cc" or character in _TURNS


def _widths(width: int) -> tuple[int, int]:
    """How the room beside the fixed columns is shared by event and answer."""
    fixed = 8 + 10 + 13 + 9 + 9 + 2 if width >= _WIDE else 8 + 4 + 9 + 2
    free = max(40, width - fixed)
    return free * 2 // 5, free - free * 2 // 5


def _answer(account: Account, names: Names, width: int, style: Style) -> str:
    badge = _BADGES.get(account.path, "- ")
    said = account.said
    if said is not None:
        words = f"{_speaker(account, names)} “{said}”"
        return f"{style.paint(badge, 'green')} {fitted(words, width - 3)}"
    words = f"silent: {account.silence}" if account.is_final else "asks the model …"
    return f"{badge} {style.paint(fitted(words, width - 3), 'dim')}"


def _speaker(account: Account, names: Names) -> str:
    if account.path == "heuristic":
        name = named(account.heuristic_id, names)
        return f"{name} {figure(account.predicted_success)}"
    return str(getattr(account.ending, "model", "model"))


def _page(account: Account, explanation: Explanation, style: Style) -> Iterator[str]:
    decided = account.decided
    clock = account.at.astimezone().strftime("%H:%M:%S")
    spoke = account.said is not None
    state = "SPOKE" if spoke else "SILENT" if account.is_final else "WAITS"
    headline = style.paint(f"{state:<7}", "green" if spoke else "yellow")
    why = account.path if spoke else (account.silence or "model")
    yield (
        f"{short(account.id)}  {headline} {why:<16} {visible(account.event_text)}"
        f"  ({decided.source}.{decided.type}, {clock})"
    )
    yield visible(explanation.verdict)
    if account.said is not None:
        yield f"  “{visible(account.said)}”"
    yield ""
    yield from (_gate(gate, style) for gate in explanation.gates)
    yield from _goals(account)
    yield from _salience(account)
    yield from _candidates(explanation.candidates)
    yield ""
    if explanation.supposed is not None:
        supposed = ", ".join(f"{k}={v:g}" for k, v in explanation.suppositions.items())
        yield style.paint(f"What if {supposed}: {explanation.supposed}.", "bold")
    elif explanation.counterfactual:
        yield explanation.counterfactual


def _gate(gate: Gate, style: Style) -> str:
    mark = style.paint("✓", "green") if gate.passed else style.paint("✗", "red")
    figures = ""
    if gate.value is not None and gate.threshold is not None:
        sign = "≥" if gate.value >= gate.threshold else "<"
        figures = f"{gate.value:.2f} {sign} {gate.threshold:.2f}"
    margin = "" if gate.margin is None else f"{gate.margin:+.2f}"
    return (
        f"  {mark} {gate.name:<12} {figures:<12} {margin:<7} {gate.note or ''}".rstrip()
    )


def _goals(account: Account) -> Iterator[str]:
    """The goals that the event was held to be about, if only such counted."""
    for goal in account.decided.goals or ():
        yield f"  goal {goal.similarity:.2f}  {visible(goal.text)}"


def _salience(account: Account) -> Iterator[str]:
    salience = account.decided.salience
    yield ""
    for name, value in sorted(salience.dimensions.items(), key=lambda item: -item[1]):
        yield f"  {name:<14} {bar(value)} {figure(value)}"
    yield (
        f"  salience {salience.score:.2f} x sensitivity {salience.sensitivity:.2f}"
        f" = {salience.effective:.2f}"
    )


def _candidates(candidates: tuple[Weighed, ...]) -> Iterator[str]:
    if not candidates:
        return
    yield ""
    for each in candidates:
        similarity = "" if each.similarity is None else f"like {each.similarity:.2f}"
        trusted = "" if each.confidence is None else f"trust {each.confidence:.2f}"
        mark = "→" if each.chosen else " "
        name = padded(visible(each.name), 24)
        yield f"  {mark} {name} {similarity:<10} {trusted:<10} {each.why}"


def _further(account: Account, explanation: Explanation, style: Style) -> Iterator[str]:
    if explanation.supposed is not None:
        return
    yield f"Try: {next_command(account)}"
    yield style.paint(f"trace {trace_id(account.decided.event_id)}", "dim")


def next_command(account: Account) -> str:
    """The command that shows more of this decision."""
    id_ = short(account.id)
    if account.said is not None:
        return f"echoic feedback {id_} up"
    opened = opening(account.decided)
    if opened is not None:
        return f"echoic explain {id_} --what-if {opened[0]}={opened[1]:.2f}"
    if account.silence == "llm_unavailable":
        domain = account.decided.domain
        return (
            f'echoic heuristic seed --domain {domain} --condition "…" --say "…"'
            " --confidence 0.8"
        )
    return f"echoic explain {id_} --json"


def known(fields: Mapping[str, Any], names: Names) -> str:
    """What the mind knows of an agent, on a page."""
    beliefs = sorted(fields["beliefs"], key=lambda each: -each["fires"])
    plain = (
        "position",
        "now",
        "session",
        "strategy",
        "open_fires",
        "waiting_for_model",
    )
    rows = [f"{name.replace('_', ' '):<18} {fields[name] or '-'}" for name in plain]
    rows += [f"{'packs':<18} {', '.join(fields['packs']) or '-'}"]
    rows += [f"{'goals':<18} {'; '.join(fields['goals']) or '-'}"]
    rows += [
        f"{'goals ' + domain:<18} {'; '.join(goals)}"
        for domain, goals in fields["domain_goals"].items()
    ]
    rows += [
        f"{'proposal ' + visible(each['id']):<18} {each['status']}: "
        + ", ".join(
            f"{change['name']} {change['before']} → {change['after']}"
            for change in each["changes"]
        )
        + (visible(each["evidence"]) if each["repertoire"] else "")
        for each in fields["proposals"]
    ]
    rows += [
        f"{'rapport ' + person:<18} {bar(value)} {value:.2f}"
        for person, value in fields["rapport"].items()
    ]
    rows += [
        f"{padded(named(each['heuristic_id'], names), 26)} {bar(each['confidence'])}"
        f" {each['confidence']:.2f}  declared {each['declared']:.2f},"
        f" {counted(each['fires'], 'fire')},"
        f" {counted(each['successes'], 'success', 'successes')}"
        for each in beliefs
    ]
    return "\n".join((fields["agent"], *(f"  {row}" for row in rows)))
