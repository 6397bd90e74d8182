"""Ten hours of a game in which all that is known is learnt: `python -m bench.learning`.

    python -m bench.learning [--hours N] [--hour-steps N] [--seed N] [--silence P]

Writes `bench/learning/latest.json`, `docs/learning.svg` and the table of
`docs/evaluation.md`. Every seed is fixed: the same command gives the same figures.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bench.learning.curve import drawing
from bench.learning.measuring import Answers, Hour, Measuring
from bench.learning.model import ScriptedModel
from bench.learning.playing import HOUR_S, Course, played
from evaluation.learning.credit_audit import audit
from handlers.mind.turn import Turn
from replay.recording.source import of_file
from streams.session_files.file import SessionFile

LATEST = Path(__file__).with_name("latest.json")
DOCS = Path(__file__).parents[2] / "docs"
PAGE, CURVE = DOCS / "evaluation.md", DOCS / "learning.svg"
BEGIN, END = "<!-- learning begins -->\n", "<!-- learning ends -->\n"
HOURS = 10

HEAD = (
    "| hour | occasions | where advice helps"
    " | System 1's share of all | where it helps | unmatched | untrusted"
    " | model calls an occasion | good advice: System 1 | model"
    " | followed, succeeded: System 1 | model"
    " | kept silent (wrongly) | asked needlessly, of how many | silences (trusted)"
    " | heuristics (trusted) | endorsements (wrong, elsewhere)"
    " | outcomes credited (praised, blamed wrongly) | deaths |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
)


def table(hours: Sequence[Hour]) -> str:
    """Return the hours as a table of the page."""
    rows = [_row(str(number), hour) for number, hour in enumerate(hours, start=1)]
    return HEAD + "".join(f"{row}\n" for row in rows)


def _row(name: str, hour: Hour) -> str:
    return (
        f"| {name} | {hour.occasions} | {hour.occasions - hour.needless}"
        f" | {hour.share:.0%} | {hour.needed_share:.0%}"
        f" | {hour.unmatched} | {hour.untrusted} | {hour.calls_each:.2f}"
        f" | {_good(hour.system_1)} | {_good(hour.system_2)}"
        f" | {_succeeded(hour.system_1)} | {_succeeded(hour.system_2)}"
        f" | {hour.quiet} ({hour.quiet_wrongly})"
        f" | {hour.asked_needlessly} of {hour.needless}"
        f" | {hour.silences} ({hour.silences_trusted})"
        f" | {hour.heuristics} ({hour.trusted})"
        f" | {hour.endorsed} ({hour.endorsed_wrongly}, {hour.elsewhere})"
        f" | {hour.credited} ({hour.praised_wrongly}, {hour.blamed_wrongly})"
        f" | {hour.deaths} |"
    )


def _good(answers: Answers) -> str:
    return f"{answers.good / answers.said:.0%}" if answers.said else "none"


def _succeeded(answers: Answers) -> str:
    tried = answers.succeeded + answers.failed
    return f"{answers.succeeded / tried:.0%}" if tried else "none"


def measured(course: Course) -> tuple[list[Hour], SessionFile]:
    """Live through a course, and measure each hour."""
    measuring = Measuring()

    def watch(hour: int, turn: Turn) -> None:
        if hour == len(measuring.hours):
            print(f"hour {hour + 1} …", file=sys.stderr, flush=True)
        measuring(hour, turn)

    file = played(course, watch)
    measuring.finish()
    return measuring.hours, file


def write(
    arguments: argparse.Namespace, hours: Sequence[Hour], faults: Sequence[str]
) -> None:
    """Keep the figures, draw the curve, and show both in the page."""
    figures = {
        **vars(arguments),
        "credit_that_a_rule_forbids": list(faults),
        "by_hour": [asdict(hour) for hour in hours],
    }
    LATEST.write_text(json.dumps(figures, indent=2) + "\n")
    CURVE.write_text(drawing(hours))
    # Only the part between the marks is generated; the prose around it is written by hand.
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + table(hours) + END + after)


def main() -> None:
    """Read the arguments, live, measure, write."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.learning", description=__doc__
    )
    parser.add_argument("--hours", type=int, default=HOURS)
    parser.add_argument("--hour-steps", type=int, default=HOUR_S)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--silence",
        type=float,
        default=0.1,
        help="how often the model is asked where silence is trusted; 0: it is not learnt",
    )
    parser.add_argument("--show", action="store_true", help="print only, write nothing")
    arguments = parser.parse_args()
    is_shown = vars(arguments).pop("show")
    course = Course(
        hours=arguments.hours,
        hour_s=arguments.hour_steps,
        seed=arguments.seed,
        silence=arguments.silence,
        model=ScriptedModel(),
    )
    hours, file = measured(course)
    found = asyncio.run(audit(of_file(file, "learning")))
    faults = [f"{each.rule} at {each.sequence}" for each in found.faults]
    if not is_shown:
        write(arguments, hours, faults)
    print(table(hours), end="")
    print(f"credit that a rule forbids: {len(faults)} of {found.credits}")


if __name__ == "__main__":
    main()
