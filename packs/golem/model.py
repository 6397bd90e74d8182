"""A model that costs nothing: what a golem does next, by rules, over the API of OpenAI.

It reads the prompt as any model does, goes to what it has not done lately, avoids what has just
failed, and now and then it errs. The same question has the same answer. Run it by path, and
name it to `echoic up`; the README of the pack says how.
"""

import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NAME = "golem"

_BROKEN = {
    0.02: "I would rather sit down for a while.",
    0.04: '{"action": "Dance", "confidence": 0.9}',
    0.06: '{"action": "Wave", "confidence": 0.1}',
    0.08: '{"action": "sit at bench", "confidence": 0.8}',
}
"""What it answers instead, below each share: no JSON, no action, too unsure, a near name."""

_USES = {
    "bench": "SitAtChair",
    "chair": "SitAtChair",
    "menu": "ExamineMenu",
    "arcade": "PlayArcade",
    "claw": "PlayClaw",
    "slot_chair": "Lean",
}
_PLACES = (
    "garden_bench",
    "menu_board",
    "claw_machine",
    "arcade_1",
    "bench_01",
    "chair_1",
)
_STATE = re.compile(r'- FSM state: <data>"(.*?)"</data>')
_NEAR = re.compile(r'<data>"([^"]*?) \((\w+)\)"</data>')
_RECENT = re.compile(r"- Recent actions \(last 5\): (.*)")
_FAILED = re.compile(r"## What just failed\n(.*)")
_NAMED = re.compile(r'(\w+)(?: <data>"([^"]*)"</data>)?: (\w+)')


def answer(salt: str, prompt: str) -> str:
    """Return what it says, in the form that the prompt asks for; `salt` is whose prompt."""
    if "Look back: what do you notice" in prompt:
        said = {"observations": ["I walk far, and then I like to sit."]}
        return json.dumps(said)
    if "Review these decisions" in prompt:
        return json.dumps(_review(prompt))
    is_again = "Your last answer could not be read" in prompt
    drawn = _draw(salt, prompt, "errs")
    for share, broken in _BROKEN.items():
        if drawn < share and not is_again:
            return broken
    return json.dumps(_choice(salt, prompt))


def _choice(salt: str, prompt: str) -> dict[str, Any]:
    """Return what to do next: what is near and was not done lately, else a way elsewhere."""
    recent = _done(_RECENT.search(prompt))
    failed = _done(_FAILED.search(prompt))
    lately = {action for action, _, _ in recent[-3:]}
    avoided = {target for _, target, _ in failed}
    state = _STATE.search(prompt)
    options: list[tuple[str, str | None]] = [
        (_USES[tag], name)
        for name, tag in _NEAR.findall(prompt.split("\n- Recent")[0])
        if tag in _USES and _USES[tag] not in lately and name not in avoided
    ]
    if state is not None and state[1] == "Sitting" and "StandUp" not in lately:
        options.append(("StandUp", None))
    if not options or "MoveToLocation" not in lately:
        options += [("MoveToLocation", each) for each in _PLACES if each not in avoided]
    options += [("LookAt", None), ("Wave", None)] if not failed else []
    at = int(_draw(salt, prompt, "choice") * len(options))
    action, target = options[at]
    return {
        "reasoning": f"I have not done {action} lately. It fits where I am.",
        "action": action,
        "target": target,
        "thought": "Let us see what is there.",
        "confidence": 0.8,
    }


def _review(prompt: str) -> dict[str, Any]:
    """Return a judgement of what was decided: what fails often is to be done less."""
    ends = Counter(
        (action, end) for action, _, end in _NAMED.findall(prompt) if end in _ENDS
    )
    worst = max(_KINDS, key=lambda kind: _rate(ends, _KINDS[kind]), default="game")
    rate = _rate(ends, _KINDS[worst])
    return {
        "review": f"{_KINDS[worst]} failed {rate:.0%} of the times; the rest went well.",
        "weights": {worst: 0.05} if rate > 0.2 else None,
        "routines": None,
        "world_knowledge": {"add": [f"{_KINDS[worst]} fails often"], "remove": []},
    }


_ENDS = ("succeeded", "failed")
_KINDS = {"wander": "MoveToLocation", "sit": "SitAtChair", "game": "PlayArcade"}


def _rate(ends: Counter[tuple[str, str]], action: str) -> float:
    failed = ends[action, "failed"]
    return failed / max(failed + ends[action, "succeeded"], 1)


def _done(found: re.Match[str] | None) -> Sequence[tuple[str, str, str]]:
    return _NAMED.findall(found[1]) if found is not None else ()


def _draw(*parts: str) -> float:
    """Return a number from 0 to 1 that depends on the parts alone."""
    digest = hashlib.blake2b("|".join(parts).encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2**48


if __name__ == "__main__":
    # Run by path: the repository is not on the import path yet.
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    from packs.village import model

    model.main(answer, NAME, __doc__)
