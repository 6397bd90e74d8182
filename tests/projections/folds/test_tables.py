"""Tables of folds: each kind of message has its row."""

from typing import Any, get_args

import pytest

from projections.folds.agent import FOLDS
from projections.folds.controls import CONTROLS
from schemas.codec.catalogue import OUTPUTS, ControlMessage


@pytest.mark.parametrize(
    ("table", "kinds"), [(FOLDS, OUTPUTS), (CONTROLS, get_args(ControlMessage))]
)
def test_each_kind_is_folded_or_named_as_changing_nothing(
    table: Any, kinds: tuple[type, ...]
) -> None:
    """A new one fails here until its row stands in the table."""
    assert sorted(table, key=repr) == sorted(kinds, key=repr)
