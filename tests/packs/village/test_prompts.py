"""What talkers and executors are told and what not, over the prompts of a recorded session.

The source design names for each what its prompt should and should not include; each thing of
these lists is a test of all prompts of a morning in the village, read back from its file.
"""

import json
import re
from functools import cache

import pytest

from bench.village.playing import Village
from packs.village.sensor.land import COSTS, KINDS
from schemas.codec.decode import read_output
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Dropped
from schemas.values.prompt_fencing import RULE
from streams.session_files.file import SessionFile
from tests.packs.village.test_manifest import EXECUTOR, TALKER

LINE = "The berries are good today."
MEMORY = "We began to build at the square."
EXECUTION = {each for group in EXECUTOR.values() for each in group} - {"set_priorities"}


def answer(_: str, prompt: str) -> str:
    """What the models say: they talk whenever they may, want something, and plan it."""
    if "Available buildings:" in prompt:
        tasks = [
            {"type": "plan_build", "building": "campfire", "reason": "warmth"},
            {"type": "create_memory", "text": MEMORY},
            {"type": "gather", "target": "wood", "amount": 5},
        ]
        return json.dumps({"thinking": "Warmth first.", "action": tasks})
    may_talk = "talk" in _tools(prompt)
    sets = [
        {"type": "set_personal_goal", "description": "Have a fire of my own"},
        {"type": "set_priorities", "priorities": {"building": 90, "social": 30}},
    ]
    wants = [] if "You want" in prompt else sets
    talks = [{"type": "talk"}] if may_talk else []
    told = {"thinking": "It is a fine day.", "speaking": LINE if may_talk else ""}
    return json.dumps(told | {"action": [*talks, *wants]})


@cache
def asked() -> tuple[dict[str, list[ModelAsked]], list[Completed]]:
    """All questions of three villagers' morning by purpose, and the answers that counted."""
    village = Village(7, characters=3, hours=1.0, begins_h=9, answer=answer)
    village.played()
    found: dict[str, list[ModelAsked]] = {"talker": [], "executor": []}
    ended: list[Completed] = []
    for name, session in sorted(village.recorded().items()):
        if name == village.plan.place:
            continue
        for message in _outputs(session):
            if isinstance(message, ModelAsked):
                found[message.purpose].append(message)
            elif isinstance(message, Completed):
                ended.append(message)
            assert not isinstance(message, Dropped), message
    return found, ended


def _outputs(session: SessionFile) -> list[object]:
    tokens = (ModelAsked.token, Completed.token, Dropped.token)
    return [
        read_output(each).message
        for each in session.records
        if each.subject.rpartition(".")[2] in tokens
    ]


def prompts(purpose: str) -> list[str]:
    """What models of a layer were told besides the form of their answer."""
    found = [each.prompt for each in asked()[0][purpose]]
    assert len(found) >= 10
    return found


def _tools(prompt: str) -> set[str]:
    return set(re.findall(r"^Tools: (.*)$", prompt, re.MULTILINE)[0].split(", "))


ALWAYS, AT_TIMES = True, False

TALKER_IN = [
    (
        "personality",
        r"^- Extraversion: (very low|low|moderate|high|very high)$",
        ALWAYS,
    ),
    ("personality", r"^- Openness: \S", ALWAYS),
    ("unconscious urges", r"^- An urge: <data>", ALWAYS),
    ("current needs", r"^- hunger: (desperate|low|moderate|good|satisfied)$", ALWAYS),
    ("current needs", r"^- company: \w", ALWAYS),
    ("vision", r"^- You can see: ", ALWAYS),
    ("weather", r"^- Weather: <data>", ALWAYS),
    ("temperature", r"^- Degrees: -?\d", ALWAYS),
    ("location", r"^- Place: <data>\"", ALWAYS),
    ("nearby agents", r"^- Near you: (none|<data>\"\w+ \()", ALWAYS),
    ("nearby agents", r"^- Near you: <data>\"\w+ \(", AT_TIMES),
    (
        "conversation state",
        r"^You are in a conversation; the latest:\n- <data>",
        AT_TIMES,
    ),
    ("recent memories", rf"^You remember:\n- <data>\"{MEMORY}\"", AT_TIMES),
    ("recent speech", rf"^- You said: <data>\"{LINE}\"", AT_TIMES),
    ("recent thoughts", r"^- You thought: <data>\"It is a fine day.\"", AT_TIMES),
    ("current activity", r"^You are doing: (nothing|\w+)$", ALWAYS),
]
EXECUTOR_IN = [
    ("current goals", r"^Current goals:\n- <data>\"Have a fire of my own\"", AT_TIMES),
    ("priorities", r"^Priorities: building: 90, social: 30$", AT_TIMES),
    ("unconscious urges", r"^- An urge: <data>", ALWAYS),
    ("stockpiled resources", r"^Village stockpile:\n- \w+: \d+", AT_TIMES),
    ("planned builds", r"^Planned builds:\n(- campfire|\(none\))", ALWAYS),
    ("planned builds", r"^Planned builds:\n- campfire", AT_TIMES),
    ("craft recipes", r"^Available recipes: cloth \(from plant_fiber\)", ALWAYS),
    ("building types", r"^Available buildings: .*campfire", ALWAYS),
    ("task completions", r"^Done lately:\n- ", AT_TIMES),
]


@pytest.mark.parametrize(
    ("purpose", "pattern", "always"),
    [
        pytest.param(purpose, pattern, always, id=f"{purpose}-{what}-{number}")
        for purpose, table in (("talker", TALKER_IN), ("executor", EXECUTOR_IN))
        for number, (what, pattern, always) in enumerate(table)
    ],
)
def test_what_is_to_be_included_is(purpose: str, pattern: str, always: bool) -> None:
    """In every prompt, or in those of which there is such a thing."""
    found = [re.search(pattern, each, re.MULTILINE) for each in prompts(purpose)]
    assert all(found) if always else any(found)


AMOUNTS = rf"\d+ ?(?:x )?(?:{'|'.join((*KINDS, 'cloth', 'rope', 'wood_plank'))})\b"
"""An amount of something that is gathered or made."""
PRICES = rf"\b(?:{'|'.join((*KINDS, 'cloth'))})\b[^\n]{{0,3}}[:=x] ?\d+"
COST = "|".join(
    rf"{name}[^\n]{{0,20}}\b{amount} {thing}"
    for name, costs in sorted(COSTS.items())
    for thing, amount in sorted(costs.items())
)

TALKER_OUT = [
    ("exact quantities", AMOUNTS),
    ("exact quantities", PRICES),
    ("building costs", COST),
    ("building costs", r"(?i)\bcosts?\b"),
    ("inventory", r"(?i)inventory|stockpile|\bslot"),
    (
        "multi-step planning",
        r"(?i)planned builds|in your queue|Available (buildings|recipes)",
    ),
    ("multi-step planning", r"entries are in"),
]
EXECUTOR_OUT = [
    ("building costs", COST),
    ("building costs", r"(?i)\bcosts?\b"),
    ("gathering plans", r"(?i)nearest|missing|\bnear\b|\(\d+, ?\d+\)"),
    ("conversation history", rf"{LINE}|You said|You are in a conversation|Said to you"),
    ("social tools", rf"\b({'|'.join((*TALKER, 'leave_conversation'))})\b"),
]


@pytest.mark.parametrize(
    ("purpose", "pattern"),
    [
        pytest.param(purpose, pattern, id=f"{purpose}-{what}-{number}")
        for purpose, table in (("talker", TALKER_OUT), ("executor", EXECUTOR_OUT))
        for number, (what, pattern) in enumerate(table)
    ],
)
def test_what_is_not_to_be_included_is_not(purpose: str, pattern: str) -> None:
    """In no prompt of the session, be it the system's or the moment's."""
    systems = [each.system.replace(RULE, "") for each in asked()[0][purpose]]
    for each in (*prompts(purpose), *systems):
        # That a talk is over is a completion, and no tool.
        told = re.sub(r'^- <data>"talk"</data>: \w+$', "", each, flags=re.MULTILINE)
        found = re.search(pattern, told)
        assert found is None, (found, each)


def test_the_talker_has_no_tools_of_execution_and_the_executor_none_socially() -> None:
    """Both set priorities."""
    for each in prompts("talker"):
        assert not _tools(each) & EXECUTION
    for each in prompts("executor"):
        assert not _tools(each) & {*TALKER, "set_personal_goal", "leave_conversation"}


def test_all_of_what_was_offered_was_understood() -> None:
    """What a model chose among the tools of its prompt was never left out as not offered."""
    _, ended = asked()
    left_out = [why for each in ended for why in each.left_out or ()]
    assert [why for why in left_out if "was not offered" in why] == []
