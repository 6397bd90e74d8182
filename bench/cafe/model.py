"""The fixed model of the café: it knows what stands where, and now and then it errs.

It reads the prompt as any model does, goes to what it has not done lately, and avoids what has
just failed. Everything it answers derives from the question's id: no key, no chance.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import orjson

from schemas.values.ids import draw
from schemas.values.model_settings import ModelSettings

NAME = "fixed"
SETTINGS = ModelSettings(name=NAME)
PRICE_IN, PRICE_OUT = 0.15, 0.60
"""Dollars for a million tokens, as gpt-4o-mini has it: the source design's model."""

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


def answer(ask_id: str, prompt: str) -> str:
    """Return what it says, in the form that the prompt asks for."""
    if "Look back: what do you notice" in prompt:
        said = {"observations": ["I walk far, and then I like to sit."]}
        return orjson.dumps(said).decode()
    if "Review these decisions" in prompt:
        return orjson.dumps(_review(prompt)).decode()
    is_again = "Your last answer could not be read" in prompt
    drawn = draw(NAME, "model", ask_id, "errs")
    for share, broken in _BROKEN.items():
        if drawn < share and not is_again:
            return broken
    return orjson.dumps(_choice(ask_id, prompt)).decode()


def _choice(ask_id: str, prompt: str) -> dict[str, Any]:
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
    at = int(draw(NAME, "model", ask_id, "choice") * len(options))
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
