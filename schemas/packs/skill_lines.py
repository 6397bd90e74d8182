"""The skills of a pack: their lines' conditions can be read."""

from typing import Annotated

from pydantic import AfterValidator

from schemas.packs import conditions
from schemas.values.skills import Skill


def _readable(skill: Skill) -> Skill:
    for line in skill.lines:
        if line.when is not None:
            conditions.parse(line.when)
    return skill


SkillOfPack = Annotated[Skill, AfterValidator(_readable)]
"""A skill as a manifest holds it."""
