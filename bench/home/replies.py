"""Ask a real model all that happens at home: `python -m bench.home.replies --model NAME`.

    python -m bench.home.replies --model openai/local --api-base http://127.0.0.1:8080/v1
        [--minutes 60] [--seed 301] [--kept FILE]
    python -m bench.home.replies --read FILE

Days of the simulated home are played with the strategy `always_llm`, so that every relevant
event is asked, until the time is over. `--kept` writes each reply as it was received, one
`ModelAnswered` a line; `--read` counts such a file again, without a model.

Counted is what may be used: a text with a `response` for strict JSON (what `json.loads`
takes), and words or a silence for the reader that the mind has.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from time import monotonic

from msgspec import structs

from bench.home import model
from bench.home.playing import Listening, settings_of
from handlers.effects.model_call import ask_model
from handlers.effects.models import LiteLLM
from handlers.mind.reply.reading import Said, understood, words
from schemas.messages.asks import ModelAsked
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.values.settings import MindSettings

DEADLINE_S = 120.0
"""Of one reply: a small model on a busy processor takes its time, and is not judged by it."""


@dataclass(slots=True)
class Counted:
    """What replies are worth, before and after the reader."""

    replies: int = 0
    strict: int = 0
    """Whole JSON with a text as its `response`."""
    said: Counter[str] = field(default_factory=Counter)
    """`words` and `silence`: what the reader makes of it."""
    failed: Counter[str] = field(default_factory=Counter)
    """Why the reader refuses one."""

    def add(self, answered: ModelAnswered) -> None:
        """Count one reply."""
        self.replies += 1
        self.strict += _is_strict(answered.text)
        content = understood(answered)
        read = content if isinstance(content, ModelFailed) else words(content)
        if isinstance(read, Said):
            self.said["words" if read.words else "silence"] += 1
        else:
            self.failed[f"{read.reason}: {read.detail}"] += 1

    def show(self) -> None:
        """Print the shares, and each reason of a refusal, most frequent first."""
        if not self.replies:
            print("no replies")
            return
        usable = self.said.total()
        print(f"replies            {self.replies}")
        print(f"usable, strict     {self.strict} ({self.strict / self.replies:.1%})")
        print(f"usable, the reader {usable} ({usable / self.replies:.1%})")
        for what, times in sorted(self.said.items()):
            print(f"  {what:<17}{times}")
        print(f"refused            {self.failed.total()}")
        for why, times in self.failed.most_common():
            print(f"  {times:>5}  {why}")


class _OverError(Exception):
    """The time is over."""


@dataclass(slots=True)
class _Real:
    """A real model, called from within the mind's turn: the day waits for it."""

    litellm: LiteLLM
    name: str
    ends: float
    loop: asyncio.Runner = field(default_factory=asyncio.Runner)
    thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    replies: list[ModelAnswered] = field(default_factory=list)
    without: Counter[str] = field(default_factory=Counter)
    """Why no reply came."""

    def answer(self, asked: ModelAsked) -> str:
        """Return the model's reply; where none comes, that of the fixed one."""
        if monotonic() >= self.ends:
            raise _OverError
        reply = self.thread.submit(self._call, asked).result()
        if isinstance(reply, ModelFailed):
            self.without[reply.reason] += 1
            return model.answer(is_persons=False)
        self.replies.append(reply)
        return reply.text

    def _call(self, asked: ModelAsked) -> ModelAnswered | ModelFailed:
        named = structs.replace(asked, model=self.name, deadline_s=DEADLINE_S)
        return self.loop.run(
            ask_model(self.litellm, "ask", named, within_s=DEADLINE_S, headers={})
        )


def main() -> None:
    """Play and ask, or read what was asked; print what the replies are worth."""
    args = _arguments()
    counted = Counted()
    if args.read is not None:
        for reply in _kept(args.read):
            counted.add(reply)
        counted.show()
        return
    real = _Real(
        LiteLLM(args.api_base, "none"), args.model, monotonic() + 60 * args.minutes
    )
    try:
        for seed in count(args.seed):
            asyncio.run(Listening(seed, _asking_all(seed), real.answer).play())
    except* _OverError:
        pass
    for reply in real.replies:
        counted.add(reply)
    if args.kept is not None:
        args.kept.write_bytes(
            b"".join(each.to_bytes() + b"\n" for each in real.replies)
        )
    counted.show()
    for why, times in real.without.items():
        print(f"no reply           {times} ({why})")


def _asking_all(seed: int) -> MindSettings:
    made = settings_of(seed)
    strategy = made.strategy.model_copy(update={"name": "always_llm"})
    return made.model_copy(update={"strategy": strategy})


def _kept(path: Path) -> Iterator[ModelAnswered]:
    for line in path.read_bytes().splitlines():
        yield ModelAnswered.from_bytes(line)


def _is_strict(text: str) -> bool:
    try:
        found = json.loads(text)
    except ValueError:
        return False
    return isinstance(found, dict) and isinstance(found.get("response"), str)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.home.replies",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--model", help="its name as litellm has it")
    parser.add_argument("--api-base")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=301)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--read", type=Path)
    args = parser.parse_args()
    if (args.model is None) == (args.read is None):
        sys.exit("bench.home.replies: say --model NAME or --read FILE")
    return args


if __name__ == "__main__":
    main()
