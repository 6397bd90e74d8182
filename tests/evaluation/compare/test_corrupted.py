"""A recording that was tampered with is INVALID, and the first divergence is named."""

from collections.abc import Callable
from dataclasses import replace

import orjson
import pytest
from msgspec import structs

from evaluation.compare.document import Document
from replay.recording.source import of_file
from schemas.values.record import Record
from streams.session_files.file import SessionFile, read_session
from tests.evaluation.compare.test_compare import DARING, EVENING, document_of, result

Records = tuple[Record, ...]


def _decided(records: Records) -> list[int]:
    """Where decisions stand that a strategy made."""
    return [
        index
        for index, record in enumerate(records)
        if record.subject.endswith(".decided")
        and orjson.loads(record.body)["path"] != "none"
    ]


def _with_body(record: Record, **changes: object) -> Record:
    return structs.replace(
        record, body=orjson.dumps(orjson.loads(record.body) | changes)
    )


def _altered_probability(records: Records) -> Records:
    at = _decided(records)[20]
    changed = _with_body(records[at], probability=0.8)
    return (*records[:at], changed, *records[at + 1 :])


def _altered_comment(records: Records) -> Records:
    at = next(i for i, each in enumerate(records) if "feedback" in each.subject)
    changed = _with_body(records[at], comment="another")
    return (*records[:at], changed, *records[at + 1 :])


def _dropped(records: Records) -> Records:
    at = _decided(records)[20]
    return (*records[:at], *records[at + 1 :])


def _dropped_input(records: Records) -> Records:
    at = next(
        index
        for index, each in enumerate(records)
        if ".in." in each.subject and index > 100
    )
    return (*records[:at], *records[at + 1 :])


def _swapped(records: Records) -> Records:
    first, second = _decided(records)[20:22]
    changed = list(records)
    changed[first] = structs.replace(records[second], sequence=records[first].sequence)
    changed[second] = structs.replace(records[first], sequence=records[second].sequence)
    return tuple(changed)


@pytest.mark.parametrize(
    "corrupt",
    [_altered_probability, _altered_comment, _dropped, _dropped_input, _swapped],
)
def test_tampering_shows(corrupt: Callable[[Records], Records]) -> None:
    """Altered, dropped or swapped: INVALID, the place is named, no value is shown."""
    found = _document(corrupt)
    difference = found.comparisons[0].estimate.difference

    assert found.verdict == "INVALID"
    assert found.self_replay.divergence is not None
    assert found.self_replay.divergence.sequence > 0
    assert not [each for each in found.comparisons[0].headline if each.delta]
    assert difference.verdict == "INVALID"
    assert difference.reasons


def _document(corrupt: Callable[[Records], Records]) -> Document:
    file: SessionFile = read_session(EVENING / "evening.echoic")
    file = replace(file, records=corrupt(tuple(file.records)))
    return document_of([result(of_file(file, "corrupted"), DARING)], DARING)
