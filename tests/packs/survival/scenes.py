"""Scenes of the game, drawn as text, for tests of what a player sees and does."""

from collections.abc import Mapping

from packs.survival.sensor.world import SIZE, VIEW, VITALS, Chart, Creature, Observation

GROUND = {".": 2, "~": 1, "#": 3, "_": 4, "T": 6, "L": 7, "t": 11, " ": 0, "@": 2}
"""Grass, water, stone, path, tree, lava, table, unseen; the player stands on grass."""

ITEMS = (
    "sapling",
    "wood",
    "stone",
    "coal",
    "iron",
    "diamond",
    "wood_pickaxe",
    "stone_pickaxe",
    "iron_pickaxe",
    "wood_sword",
    "stone_sword",
    "iron_sword",
)
ACHIEVEMENTS = (
    "collect_sapling",
    "collect_wood",
    "collect_drink",
    "defeat_zombie",
    "defeat_skeleton",
    "eat_cow",
    "make_wood_pickaxe",
    "make_wood_sword",
    "place_plant",
    "place_stone",
    "place_table",
    "place_furnace",
    "wake_up",
)


def scene(
    drawing: str = "@",
    *,
    creatures: Mapping[str, tuple[int, int]] | None = None,
    vitals: Mapping[str, int] | None = None,
    inventory: Mapping[str, int] | None = None,
    achievements: Mapping[str, int] | None = None,
    step: int = 0,
    daylight: float = 1.0,
    sleeping: bool = False,
    facing: tuple[int, int] = (0, 1),
    alive: bool = True,
) -> Observation:
    """What a player sees who stands at `@`; creatures are named by kind and offset."""
    rows = drawing.strip("\n").splitlines()
    here = next(
        (column, line) for line, row in enumerate(rows)
        for column, mark in enumerate(row) if mark == "@"
    )  # fmt: skip
    x0, y0 = SIZE // 2 - here[0], SIZE // 2 - here[1]
    cells = bytearray(SIZE * SIZE)
    for line, row in enumerate(rows):
        for column, mark in enumerate(row):
            cells[(x0 + column) * SIZE + y0 + line] = GROUND[mark]
    return Observation(
        step=step,
        life=1,
        alive=alive,
        sleeping=sleeping,
        daylight=daylight,
        vitals=dict.fromkeys(VITALS, 9) | dict(vitals or {}),
        inventory=dict.fromkeys(ITEMS, 0) | dict(inventory or {}),
        achievements=dict.fromkeys(ACHIEVEMENTS, 0) | dict(achievements or {}),
        cell=(SIZE // 2, SIZE // 2),
        facing=facing,
        chart=Chart(bytes(cells)),
        creatures=tuple(_creature(*each) for each in (creatures or {}).items()),
    )


def _creature(name: str, offset: tuple[int, int]) -> Creature:
    """`zombie` or `zombie#7`, whose number is 7."""
    kind, _, number = name.partition("#")
    dx, dy = offset
    assert abs(dx) <= VIEW[0] + 2
    cell = (SIZE // 2 + dx, SIZE // 2 + dy)
    return Creature(int(number or 1), kind, cell, dx, dy)
