"""`echoic model`: how well a language model serves characters."""

import asyncio
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import RenderableType

from echoic.cli.options import InstanceCall, new_app
from echoic.cli.progress import Progress
from echoic.model_check.report import SEED_USD, Report
from echoic.model_check.report import report as reported
from echoic.model_check.run import Asked
from echoic.model_check.run import check as checked
from echoic.model_check.situations import Layer, calls_an_hour, prompts
from echoic.terminal.screen import pairs, table, text, words
from handlers.effects.models import LiteLLM
from schemas.values.model_settings import ModelSettings

app = new_app("model", "How well a language model serves characters.")


@app.callback()
def model() -> None:
    """How well a language model serves characters."""


@app.command()
def check(
    call: InstanceCall,
    name: str,
    layer: Layer = "talker",
    count: Annotated[int | None, typer.Option(min=1, max=1_000)] = None,
    deadline: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0.1, max=600)
    ] = None,
) -> None:
    """Send a model the characters' prompts and grade its answers.

    No instance is needed; model.api_base, model.api_key, model.temperature and
    model.max_tokens are the settings'. A call is a real one, and costs what it costs.

    Examples: `echoic model check ollama/qwen2.5:3b`, `echoic model check gpt-4o-mini
    --count 5 --json`. The exit code is 3 if the model cannot be reached.

    Args:
        name: The model as litellm names it, such as `ollama/llama3.2`.
        layer: Whose prompts: a talker's, an executor's or an autonomous character's.
        count: How many prompts; else each once. More begin anew.
        deadline: How long an answer is waited for; else model.deadline_s.
    """
    settings = call.settings
    how = ModelSettings(
        name=name,
        temperature=settings["model.temperature"],
        max_tokens=settings["model.max_tokens"],
        deadline_s=deadline or settings["model.deadline_s"],
    )
    client = LiteLLM(
        settings.model_api_base, settings.model_api_key, settings.model_price
    )
    with Progress("prompts answered", is_silent=call.as_json) as progress:
        asked: list[Asked] = asyncio.run(
            checked(client, how, count or len(prompts(layer)), progress, layer)
        )
    found = reported(name, asked, calls_an_hour(layer))
    call.show(_fields(found), _screen(found))


def _fields(found: Report) -> dict[str, object]:
    return {
        "model": found.model,
        "prompts": found.prompts,
        "answered": found.answered,
        "json": {
            "share": found.json_share,
            "count": found.json,
            "bare": found.bare_json,
        },
        "action": {
            "share": found.action_share,
            "count": found.valid_actions,
            "named": found.actions,
        },
        "latency_ms": {"p50": found.latency_p50_ms, "p95": found.latency_p95_ms},
        "tokens": {"in": found.input_tokens, "out": found.output_tokens},
        "cost": {
            "calls_an_hour": found.calls_an_hour,
            "usd_an_hour": found.usd_an_hour,
            "source_design_usd": SEED_USD,
        },
        "failures": found.failures,
    }


def _screen(found: Report) -> Iterator[RenderableType]:
    whole = found.prompts
    yield text(f"{found.model}: {found.answered} of {whole} prompts answered")
    yield pairs(
        {
            "valid JSON": f"{found.json_share:.0%}, {found.json} of {whole};"
            f" nothing else in {found.bare_json}",
            "valid action": f"{found.action_share:.0%}, {found.valid_actions} of {whole};"
            f" {found.actions} named one",
            "latency": f"p50 {_figure(found.latency_p50_ms)} ms,"
            f" p95 {_figure(found.latency_p95_ms)} ms",
            "tokens a call": f"{_figure(found.input_tokens)} in,"
            f" {_figure(found.output_tokens)} out",
            "a game hour": f"{_cost(found)}, {found.calls_an_hour:.0f} calls of a"
            f" character (source design: ${SEED_USD:.2f})",
        }
    )
    if found.failures:
        rows = ((each.situation, each.why) for each in found.failures)
        yield table((words("situation"), words("what failed")), rows)


def _figure(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.0f}"


def _cost(found: Report) -> str:
    if found.usd_an_hour is None:
        return "no known price"
    return f"${found.usd_an_hour:.4f}"
