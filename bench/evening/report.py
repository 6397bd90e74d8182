"""What came of judged evenings, as text and as the tables of a page."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.evening.judged import Judgement


@dataclass(frozen=True, slots=True)
class Figures:
    """What some evenings came to."""

    evenings: int
    needs: Counter[str]
    """By verdict; what could not be told, or was kept back as it should be, left out."""
    alerts_lost: int
    faults: Counter[str]
    wishes: int
    wishes_set: int
    promises: int
    broken: int
    questions: int
    answered: int

    @property
    def in_time(self) -> float:
        """Which share of what was needed was said in time."""
        return _share(self.needs["in time"], self.needs.total())

    @property
    def annoyances(self) -> float:
        """How many an hour."""
        return _share(self.faults.total(), self.evenings)

    @property
    def lost(self) -> float:
        """How many an hour are lost without a trace."""
        return _share(self.needs["lost"], self.evenings)


def figures(found: Iterable[Judgement]) -> Figures:
    """Count what came of evenings."""
    all_ = tuple(found)
    needs = [
        need
        for each in all_
        for need in each.needs
        if need.verdict != "moot" and not (need.is_held_back and need.verdict == "kept")
    ]
    promises = [each for found in all_ for each in found.promises]
    made = [each for each in promises if each.is_made]
    questions = [answered for each in all_ for _, answered in each.questions]
    return Figures(
        evenings=len(all_),
        needs=Counter(each.verdict for each in needs),
        alerts_lost=sum(
            e.worth == "alert" and e.verdict in ("lost", "kept") for e in needs
        ),
        faults=Counter(fault for each in all_ for _, fault in each.faults),
        wishes=len(promises),
        wishes_set=sum(each.is_set for each in promises),
        promises=len(made),
        broken=sum(bool(each.broken) for each in made),
        questions=len(questions),
        answered=sum(questions),
    )


def table(groups: Mapping[str, Sequence[Judgement]]) -> str:
    """Return one line a group of evenings, and how each annoys."""
    counted = {name: figures(found) for name, found in groups.items() if found}
    lines = [
        "| evenings | needed | said in time | late | lost, an hour | alerts lost"
        " | annoyances, an hour | wishes set | promises broken | questions answered |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, each in counted.items():
        lines.append(
            f"| {name} | {each.needs.total()} | {each.in_time:.1%}"
            f" | {_share(each.needs['late'], each.needs.total()):.1%} | {each.lost:.2f}"
            f" | {each.alerts_lost} | {each.annoyances:.2f}"
            f" | {_share(each.wishes_set, each.wishes):.0%} of {each.wishes}"
            f" | {each.broken} of {each.promises}"
            f" | {_share(each.answered, each.questions):.1%} of {each.questions} |"
        )
    kinds = sorted({kind for each in counted.values() for kind in each.faults})
    if kinds:
        lines += ["", f"| annoyances, an hour | {' | '.join(kinds)} |"]
        lines += ["|---" * (len(kinds) + 1) + "|"]
    for name, each in counted.items() if kinds else ():
        rates = (f"{each.faults[kind] / each.evenings:.2f}" for kind in kinds)
        lines.append(f"| {name} | {' | '.join(rates)} |")
    return "\n".join(lines) + "\n"


def details(found: Judgement) -> str:
    """Return what was wrong in one evening, in order of time."""
    course = found.course
    steps, ends = course.evening.steps, dict(course.ends)
    lines = [
        (need.at, f"{need.verdict}: {need.what} ({need.worth}) {steps[need.step].event.text!r}"
            f" {ends.get(course.ids[need.step], '')}")
        for need in found.needs
        if need.verdict in ("late", "lost", "kept")
    ]  # fmt: skip
    lines += [(each.at, f"{fault}: {each.text!r}") for each, fault in found.faults]
    for promise in found.promises:
        step = steps[promise.step]
        if promise.is_made and promise.broken:
            lines.append(
                (step.at, f"broken: {step.event.text!r} by {promise.broken!r}")
            )
        if not promise.is_set:
            lines.append((step.at, f"not set: {step.event.text!r}"))
    lines += [
        (steps[index].at, f"unanswered: {steps[index].event.text!r}"
            f" {ends.get(course.ids[index], '')}")
        for index, answered in found.questions
        if not answered
    ]  # fmt: skip
    title = f"evening {course.evening.seed}, {len(course.evening.people)} there"
    return "\n".join([title, *(f"  {at:7.1f} {text}" for at, text in sorted(lines))])


def causes(found: Iterable[Judgement]) -> str:
    """Return of what was not said in time how often each kind ended by which silence."""
    counted = Counter(
        (need.what.split("-")[0], need.worth, need.verdict,
         dict(each.course.ends).get(each.course.ids[need.step], "said"))
        for each in found
        for need in each.needs
        if need.verdict in ("late", "lost", "kept")
    )  # fmt: skip
    lines = (f"{n:5} {' '.join(key)}" for key, n in counted.most_common())
    return "\n".join(lines) + "\n"


def write(page: Path, name: str, text: str) -> None:
    """Put a text between the marks of a page that bear its name."""
    begin, end = (f"<!-- evening {name} {which} -->\n" for which in ("begins", "ends"))
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(f"{before}{begin}{text}{end}{after}", encoding="utf-8")


def _share(some: float, all_: float) -> float:
    return some / all_ if all_ else 0.0
