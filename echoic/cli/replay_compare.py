"""`echoic replay compare`: what other strategies would have done, and whether it is better."""

import shlex
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from msgspec.structs import replace

from echoic import errors
from echoic.cli.options import Call, For, Jobs, Rope
from echoic.cli.progress import Progress
from echoic.client.comparison import compare_all, sources
from echoic.client.requery import Requery
from echoic.config.load import Settings
from echoic.config.strategies import strategy_of
from echoic.errors import EchoicError
from echoic.terminal import comparison
from echoic.terminal.output import note
from evaluation.compare.document import Document
from evaluation.compare.document_of import document
from evaluation.compare.fail_on import Condition, parse, tripped
from evaluation.compare.overall import Wish
from evaluation.compare.session import Plan, SessionResult
from evaluation.ope.settings import EstimationSettings
from handlers.effects.models import LiteLLM
from replay.cassette import Mode
from replay.closed_loop.run import Answers
from replay.recording.outcomes import OutcomeSettings
from schemas.messages.experiments import Variant

if TYPE_CHECKING:
    from echoic.cli.replay_trace import Tracing

_SESSIONS = typer.Argument(metavar="[SESSION|FILE]...")
_STRATEGY = typer.Option("--strategy", "-s", metavar="STRATEGY")

_STUB = "(stub)"
"""The answer of every model in the mode `stub`."""


@dataclass(frozen=True)
class _Answering:
    """Where the model's answers come from.

    Args:
        model: Where the model's answers come from.
        asked: The file that keeps the answers of requery.
        calls: How often requery may ask at most.
        usd: What requery may cost at most.
    """

    model: Mode = "cassette"
    asked: Annotated[Path | None, typer.Option(metavar="FILE.jsonl")] = None
    calls: Annotated[int, typer.Option(min=0)] = 50
    usd: Annotated[float | None, typer.Option(min=0.0)] = None

    def answers(self, settings: Settings) -> Answers:
        if self.model != "requery":
            return Answers(mode=self.model, stub=_STUB)
        if self.asked is None:
            raise EchoicError(
                "--model requery needs a file to keep the answers in",
                next_step="add --asked answers.jsonl",
            )
        model = LiteLLM(
            settings.model_api_base, settings.model_api_key, settings.model_price
        )
        port = Requery(model, self.asked, calls=self.calls, cost_usd=self.usd)
        return Answers(mode=self.model, port=port)


@dataclass(frozen=True)
class _Judging:
    """What counts as success, and for whom.

    Args:
        prefer: What counts first.
        window: How long an outcome may be waited for.
        silence: The value of silence.
    """

    prefer: Literal["outcome", "feedback"] = "outcome"
    window: Annotated[float | None, typer.Option(metavar="SECONDS")] = None
    silence: Annotated[float, typer.Option(min=0.0, max=1.0)] = 0.5
    rope: Rope = None
    whom: For = "these"

    def outcome(self) -> OutcomeSettings:
        if self.window is not None and self.window <= 0.0:
            raise EchoicError(
                f"--window {self.window!r}: give a number of seconds above 0"
            )
        return OutcomeSettings(
            prefer=self.prefer, window_s=self.window, silence=self.silence
        )


@dataclass(frozen=True)
class _Traces:
    """Which decisions are traced, and where to.

    Args:
        trace: Show flips, and some other decisions, in Jaeger beside the recorded ones.
        trace_to: The same into a file, which Jaeger's page can upload.
        trace_limit: How many decisions of each session and challenger at most.
        trace_originals: Trace those of this instance's own sessions too, if that never
            happened; those of files are always sent.
    """

    trace: bool = False
    trace_to: Annotated[Path | None, typer.Option(metavar="FILE.jsonl")] = None
    trace_limit: Annotated[int, typer.Option(min=1)] = 100
    trace_originals: bool = False

    def tracing(self, settings: Settings) -> "Tracing | None":
        if not (self.trace or self.trace_to or self.trace_originals):
            return None
        # Imported here: most comparisons trace nothing.
        from echoic.cli.replay_trace import tracing_to

        return tracing_to(
            settings, self.trace_to, self.trace_limit, originals=self.trace_originals
        )


def compare(
    call: Call,
    session: Annotated[list[str] | None, _SESSIONS] = None,
    strategy: Annotated[list[str] | None, _STRATEGY] = None,
    baseline: Annotated[str | None, typer.Option(metavar="STRATEGY")] = None,
    personality: Annotated[str | None, typer.Option(metavar="TEXT")] = None,
    template: Annotated[list[str] | None, typer.Option(metavar="NAME")] = None,
    answering: _Answering = _Answering(),
    since: Annotated[int | None, typer.Option("--from", metavar="SEQ")] = None,
    judging: _Judging = _Judging(),
    report: Annotated[Path | None, typer.Option(metavar="OUT.html")] = None,
    fail_on: Annotated[str | None, typer.Option(metavar="CONDITIONS")] = None,
    traces: _Traces = _Traces(),
    jobs: Jobs = None,
) -> None:
    """Decide recorded sessions again under other strategies, and say what would change.

    Examples: `echoic replay compare evening.echoic -s heuristic_first:threshold=0.6`,
    `echoic replay compare -s silent -s always_llm --report out.html`, `echoic replay
    compare s1 s2 -s mine.yaml --fail-on 'regressed>0'`. The exit code is 1 if a condition
    of --fail-on holds, 3 if the recording cannot be trusted.

    Args:
        session: Sessions, or their files.
        strategy: A challenger: name, name:key=value, module:function or a YAML file.
        baseline: The strategy to compare with; else the recorded one.
        personality: The personality of the challengers, for the prompt.
        template: Their personality template, of those in the recording; each one named is
            a challenger.
        since: The first input to decide again; earlier ones stay as recorded, and are not
            compared.
        report: Also write a page that stands alone.
        fail_on: Exit with 1 if one of these holds, such as `regressed>0`.
    """
    # What can be refused is refused first: comparing may take minutes.
    conditions = parse(fail_on) if fail_on else ()
    _can_be_written(report)
    outcome, settings = judging.outcome(), call.settings
    tracing = traces.tracing(settings)
    plan = Plan(
        baseline=_baseline(baseline),
        challengers=_challengers(strategy or [], personality, template or []),
        outcome=outcome,
        answers=answering.answers(settings),
        since=since,
    )
    # One budget is spent by one process.
    jobs = 1 if answering.model == "requery" else jobs
    with Progress("compared", is_silent=call.as_json) as progress:
        results = compare_all(settings, session or [], plan, progress, jobs)
    _is_within(since, results)
    found = document(results, plan, _wish(judging, results))
    if tracing is not None:
        found = tracing.traced(found, results, plan, sources(settings, session or []))
    call.show(found.as_json(), comparison.screen(found))
    if report is not None:
        _write(report, found)
    raise typer.Exit(_exit_code(found, conditions))


def _baseline(text: str | None) -> Variant:
    return Variant(strategy=None if text is None else strategy_of(text, "--baseline"))


def _challengers(
    texts: list[str], personality: str | None, templates: list[str]
) -> tuple[Variant, ...]:
    named: list[str | None] = [*templates] or [None]
    voices = [Variant(personality=personality, template=each) for each in named]
    if not texts and voices != [Variant()]:
        return tuple(voices)
    if not texts:
        raise EchoicError(
            "no challenger is named",
            next_step="add --strategy; see echoic strategy list",
        )
    return tuple(
        replace(voice, strategy=strategy_of(text, "--strategy"))
        for text in texts
        for voice in voices
    )


def _wish(judging: _Judging, results: list[SessionResult]) -> Wish:
    try:
        estimation = EstimationSettings.wished(judging.rope, population=judging.whom)
    except ValueError as error:
        raise EchoicError(f"--rope: {error}") from error
    command = shlex.join(["echoic", *sys.argv[1:]])
    # Of all runs: a mark on one of them is a mark on the whole document.
    watermarks = {life.watermark for each in results for life in each.closed_loops}
    return Wish(
        command=command,
        echoic=version("echoic"),
        estimation=estimation,
        watermark=next(filter(None, watermarks), None),
    )


def _write(file: Path, found: Document) -> None:
    """Write the page atomically: a failure leaves the old file."""
    # Imported here: only a page needs the templates, and they take time to load.
    from echoic.web.report.page import render

    # In the same folder, so that `replace` is one atomic rename.
    draft = file.with_name(file.name + ".new")
    try:
        draft.write_text(render(found))
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    note(f"report: {file}")


def _can_be_written(report: Path | None) -> None:
    """Raise if the report cannot be written, before the work and not after it."""
    if report is None:
        return
    if report.is_dir():
        raise EchoicError(f"--report {str(report)!r} is a folder: name a file in it")
    if not report.parent.is_dir():
        raise EchoicError(f"--report {str(report)!r}: there is no such folder")


def _is_within(since: int | None, results: list[SessionResult]) -> None:
    """Raise if `--from` is beyond the last input: nothing would be left to compare."""
    last = max(each.recording.last for each in results)
    if since is not None and since > last:
        raise EchoicError(f"--from {since}: the last input recorded is {last}")


def _exit_code(found: Document, conditions: tuple[Condition, ...]) -> int:
    if any(each.verdict == "INVALID" for each in found.comparisons):
        return errors.INVALID
    reasons = [
        reason for each in found.comparisons for reason in tripped(conditions, each)
    ]
    for reason in reasons:
        note(f"--fail-on {reason}")
    return errors.FINDING if reasons else errors.OK
