"""Asking a model the prompts of the check, one after the other, as the effect would."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import cycle, islice

from echoic.errors import NotRunningError
from echoic.model_check.situations import Layer, Prompt, Verdict, prompts
from handlers.effects.model_call import ask_model
from handlers.effects.models import Model
from handlers.mind.reply import reading
from handlers.mind.stages.prompts import request_hash
from schemas.messages.asks import ModelAsked
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.values.model_settings import ModelSettings

_GREETING = Prompt(
    situation="a greeting", system="", text="Answer with one word: yes.", tools=()
)
"""Asked first and not counted: whoever loads a model does so at its first call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A prompt with what came of it."""

    prompt: Prompt
    result: ModelAnswered | ModelFailed
    verdict: Verdict | None
    """None if there was no answer."""

    @property
    def problem(self) -> str | None:
        """Why it is of no use, or what of it was refused; None if all of it counts."""
        if isinstance(self.result, ModelFailed):
            return f"{self.result.reason}: {self.result.detail}"
        return self.verdict.problem if self.verdict is not None else None


async def check(
    model: Model,
    settings: ModelSettings,
    count: int,
    tell: Callable[[int, int], None] = lambda done, whole: None,
    layer: Layer = "talker",
) -> list[Asked]:
    """Ask a model so many prompts of a layer; `tell` hears how many are answered.

    They begin anew where there are more than situations.

    Raises:
        NotRunningError: it cannot be reached, or does not answer at all.
    """
    try:
        await model.prepare()
        await _reach(model, settings)
        asked = []
        for done, prompt in enumerate(chosen(prompts(layer), count), 1):
            asked.append(await _ask(model, settings, prompt))
            tell(done, count)
        return asked
    finally:
        await model.close()


def chosen(known: Iterable[Prompt], count: int) -> Iterator[Prompt]:
    """Yield so many prompts, in order, and from the first again at their end."""
    return islice(cycle(known), count)


async def _reach(model: Model, settings: ModelSettings) -> None:
    """Wait until a model answers something.

    Raises:
        NotRunningError: it does not.
    """
    result = (await _ask(model, settings, _GREETING)).result
    if isinstance(result, ModelFailed) and result.reason in ("unavailable", "timeout"):
        raise NotRunningError(
            f"the model {settings.name!r} cannot be reached: {result.detail}",
            next_step="check its name, and model.api_base and model.api_key: "
            "echoic config show",
        )


async def _ask(model: Model, settings: ModelSettings, prompt: Prompt) -> Asked:
    # What the log would have of it; here nothing but the model's own part counts.
    asked = ModelAsked(
        purpose="talker",
        decision_id="check",
        priority=0.0,
        expires_at=datetime.now(UTC),
        ttl_s=settings.deadline_s,
        model=settings.name,
        system=prompt.system,
        prompt=prompt.text,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        deadline_s=settings.deadline_s,
        channel="talk",
        response_type="observation",
        request_hash=request_hash(settings, prompt.system, prompt.text),
    )
    received = await ask_model(
        model, "check", asked, within_s=settings.deadline_s, headers={}
    )
    # As the mind takes it: without what it thought.
    result = reading.understood(received)
    if isinstance(result, ModelFailed):
        return Asked(prompt=prompt, result=result, verdict=None)
    return Asked(prompt=prompt, result=result, verdict=prompt.judge(result.text))
