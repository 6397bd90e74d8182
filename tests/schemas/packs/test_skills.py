"""Skills in manifests: what belongs to which kind."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.factories import pack

LINE = {"texts": ["{text} So."]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "style"}, "a style needs a trait"),
        ({"trait": "humor"}, "only a style has one"),
        ({"kind": "capability", "context_binding": "home"}, "only a domain is bound"),
        ({"context_binding": "a.b.c"}, "pattern"),
        ({"lines": [{**LINE, "bands": [1]}]}, "bands belong to a style"),
        ({"tables": [{"words": {"": "a"}}]}, "at least 1 character"),
        ({"lines": [{**LINE, "when": "health <"}]}, "health <"),
        ({"lines": [{"texts": []}]}, "at least 1 item"),
        ({"kind": "planner"}, "style"),
    ],
)
def test_what_a_skill_may_not_be(changes: dict[str, Any], message: str) -> None:
    """Said when the manifest is read, not when somebody is to be spoken to."""
    with pytest.raises(ValidationError, match=message):
        pack(skills=[{"name": "a", "kind": "domain", **changes}])


def test_two_skills_of_one_name_are_refused() -> None:
    """They would be loaded as one."""
    skill = {"name": "a", "kind": "domain", "lines": [LINE]}
    with pytest.raises(ValidationError, match="skills have one name"):
        pack(skills=[skill, skill])
