"""The one rule by which names are found: the very one, else the only one that begins so."""

import pytest

from schemas.values import naming

SHOPS = tuple(f"shop-{number}" for number in range(48))


@pytest.mark.parametrize(
    ("given", "known", "expected"),
    [
        ("shop-2", SHOPS, "shop-2"),
        ("shop-2", tuple(reversed(SHOPS)), "shop-2"),
        ("shop-29", SHOPS, "shop-29"),
        ("shop-9", SHOPS, "shop-9"),
        ("da", ("day-1", "shop-1"), "day-1"),
        ("day", ("day-1", "day-1"), "day-1"),
        ("day", ("day", "day-1"), "day"),
    ],
)
def test_the_very_one_wins_else_the_only_one_that_begins_so(
    given: str, known: tuple[str, ...], expected: str
) -> None:
    """In whatever order they stand."""
    assert naming.meant(given, known, "session") == expected


@pytest.mark.parametrize(
    ("given", "listed"),
    [
        ("shop-", "48 sessions begin with 'shop-'"),
        ("sho", "shop-0, shop-1, shop-2"),
        ("", "48 sessions begin with ''"),
        ("shop", "shop-11 …"),
    ],
)
def test_several_are_refused_and_listed(given: str, listed: str) -> None:
    """Twelve at most, and what was given is named."""
    with pytest.raises(naming.AmbiguousNameError) as caught:
        naming.meant(given, SHOPS, "session")

    assert listed in str(caught.value)


@pytest.mark.parametrize(
    ("given", "known"),
    [("shop-48", SHOPS), ("hop-2", SHOPS), ("Shop-2", SHOPS), ("", ()), ("x", ())],
)
def test_what_is_not_there_is_refused(given: str, known: tuple[str, ...]) -> None:
    """With a suggestion, if one is near."""
    with pytest.raises(naming.UnknownNameError, match="there is no session"):
        naming.meant(given, known, "session")
