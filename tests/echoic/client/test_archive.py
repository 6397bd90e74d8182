"""What an archive keeps: files with labels, in a folder."""

from pathlib import Path

import pytest

from echoic.client.archive.shelf import LABEL, Altered, Label, Shelf
from echoic.errors import NotFoundError

SESSION = Label(
    kind="session", key="e/sessions/ada/s-1.echoic", epoch="e", first=1, last=9
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The folder of an empty archive."""
    return tmp_path / "archive"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of some parts."""
    path = tmp_path / "session.echoic"
    path.write_bytes(bytes(range(256)) * 10_000)
    return path


def test_what_is_kept_is_kept_once(place: Path, file: Path) -> None:
    """It is labelled, found, fetched as it was, and a second time nothing happens."""
    shelf = Shelf(place)
    first, again = shelf.keep(file, SESSION), shelf.keep(file, SESSION)
    (label,) = shelf.labels()

    assert (first, again) == (label, None)
    assert (label.first, label.last, label.size) == (1, 9, 2_560_000)
    assert (place / SESSION.key).read_bytes() == file.read_bytes()
    shelf.check(label)


def test_nothing_is_replaced(place: Path, file: Path) -> None:
    """Another file under the key of one that is there is refused."""
    shelf = Shelf(place)
    shelf.keep(file, SESSION)
    before = (place / SESSION.key).read_bytes()
    file.write_bytes(b"another")

    with pytest.raises(Altered, match="another"):
        shelf.keep(file, SESSION)
    assert (place / SESSION.key).read_bytes() == before


def test_a_file_that_was_broken_off_is_done_again(place: Path, file: Path) -> None:
    """Half an object has no label: it is not listed, and the next run replaces it."""
    half = place / SESSION.key
    half.parent.mkdir(parents=True)
    half.write_bytes(file.read_bytes()[:1000])
    shelf = Shelf(place)
    listed = list(shelf.labels())
    stored = shelf.keep(file, SESSION)

    assert listed == []
    assert stored == next(iter(shelf.labels()))
    assert half.read_bytes() == file.read_bytes()


def test_what_was_altered_is_not_handed_out(place: Path, file: Path) -> None:
    """One other byte is noticed, and a file that is gone."""
    shelf = Shelf(place)
    shelf.keep(file, SESSION)
    stored = place / SESSION.key
    body = bytearray(stored.read_bytes())
    body[1_500_000] ^= 1
    stored.write_bytes(body)

    with pytest.raises(Altered, match="not what was stored"):
        shelf.check(next(shelf.labels()))
    stored.unlink()
    with pytest.raises(NotFoundError, match="there is no"):
        shelf.check(next(shelf.labels()))


def test_a_label_that_is_none_is_named(place: Path, file: Path) -> None:
    """Whatever else lies there is not taken for ours."""
    shelf = Shelf(place)
    shelf.keep(file, SESSION)
    (place / (SESSION.key + LABEL)).write_bytes(b"{}")

    with pytest.raises(Altered, match="no label of ours"):
        list(shelf.labels())
