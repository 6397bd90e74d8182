"""The modules that an event passes on its way through the mind."""

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import FrameType

from echoic.api import Mind, load_pack

_WORLD = """
schema: 1
name: greenhouse
version: 1.0.0
description: A greenhouse whose plants need water.
executive:
  outcome_patterns:
    - trigger_pattern: soil is dry
      outcome_pattern: soil is moist
      timeout_sec: 600
      is_success: true
events:
  - {type: soil_dry, source: greenhouse, salience: {actionability: 0.7}, tau_s: 60}
heuristics:
  - name: water
    condition: The soil is dry
    when: type = "soil_dry"
    action: {type: suggestion, text: Water the plants.}
    confidence: 0.8
"""


@dataclass(frozen=True, slots=True)
class Flow:
    """The rooms of a flow in the order of their first visit."""

    rooms: tuple[str, ...]
    climbs: int


def flow_of(
    run: Callable[[], object],
    entry: str,
    order: Mapping[str, int],
    packages: Sequence[str],
) -> Flow:
    """Return the rooms that calls pass within the function `entry` while `run` runs."""
    rooms: dict[str, None] = {}
    inside = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal inside
        code, module = frame.f_code, str(frame.f_globals.get("__name__"))
        # What has no file is a dataclass's `__init__`, which nobody reads.
        if module.split(".")[0] not in packages or code.co_filename.startswith("<"):
            return
        is_entry = code.co_qualname == entry  # no method of that name
        if event == "call":
            inside += is_entry
            if inside:
                rooms.setdefault(module)
        elif event == "return":
            inside -= is_entry

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    # First visits in order: a room that stands higher than the one before it is a climb.
    heights = [order[room] for room in rooms]
    climbs = sum(after > before for before, after in pairwise(heights))
    return Flow(tuple(rooms), climbs)


def event() -> Callable[[], object]:
    """Return an event that a heuristic answers, in a mind that could also ask a model."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "manifest.yaml").write_text(_WORLD, encoding="utf-8")
        mind = Mind(
            load_pack(Path(folder)),
            model=lambda _: '{"response": "Yes."}',
            # Nobody heeds what is said here, so such events come to matter less.
            settings={"relevance": 0.0},
        )
    at = 0.0

    def sense() -> object:
        nonlocal at
        at += 900.0
        found = mind.sense(
            "The soil is dry", source="greenhouse", type="soil_dry", at=at
        )
        if found.path != "heuristic":
            raise RuntimeError(f"the event was answered by {found.path}, no heuristic")
        return found

    for _ in range(3):  # the first of their kind are new to the mind
        sense()
    return sense
