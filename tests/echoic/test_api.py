"""What `echoic.api` promises: nothing else of ours has to be imported."""

import re
import typing
from pathlib import Path
from typing import Any

import pytest

from echoic import api

PAGE = Path(__file__).parents[2] / "docs" / "strategies.md"
GIVEN = (api.DecisionContext, api.HeuristicCandidate, api.Odds, api.DecisionResult)
"""What a strategy is given, and what it answers with."""


def test_every_name_is_there_once() -> None:
    """And nothing that begins with an underscore."""
    assert all(hasattr(api, name) for name in api.__all__)
    assert len(set(api.__all__)) == len(api.__all__)
    assert not [name for name in api.__all__ if name.startswith("_")]


def test_nothing_else_is_bound() -> None:
    """What is not promised does not look as if it were."""
    assert {name for name in vars(api) if not name.startswith("_")} == set(api.__all__)


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: given.__name__)
def test_a_strategy_can_name_every_type_it_meets(given: type) -> None:
    """The types of the fields are promised as well, however deep."""
    promised = {getattr(api, name) for name in api.__all__ if name != "SILENT"}

    assert [each for each in ours_in(given, set()) if each not in promised] == []


def ours_in(type_: Any, seen: set[Any]) -> list[type]:
    """The classes of ours that the fields of a type lead to."""
    found: list[type] = []
    for each in (type_, *typing.get_args(type_)):
        is_ours = getattr(each, "__module__", "").startswith("schemas.")
        if is_ours and isinstance(each, type) and each not in seen:
            seen.add(each)
            found.append(each)
            for field in typing.get_type_hints(each).values():
                found += ours_in(field, seen)
        elif each is not type_:
            found += ours_in(each, seen)
    return found


def test_the_page_names_every_name() -> None:
    """The table of the page is the promise in words."""
    section = PAGE.read_text(encoding="utf-8").partition("## What `echoic.api` has")[2]
    named = set(re.findall(r"`(\w+)`", section.partition("\n## ")[0]))

    assert set(api.__all__) <= named
