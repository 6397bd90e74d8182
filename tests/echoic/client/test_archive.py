"""What an archive keeps: in a folder and in a store with S3's API, the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from echoic.client.archive.shelf import LABEL, Altered, Label, Shelf, fetched
from echoic.client.archive.stores import opened
from echoic.errors import EchoicError, NotFoundError
from tests.s3_server import s3_server

SESSION = Label(
    kind="session", key="e/sessions/ada/s-1.echoic", epoch="e", first=1, last=9
)


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.services)])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, Path]]:
    """The URL of an empty archive, and the folder in which its objects really are."""
    if request.param == "folder":
        yield (tmp_path / "archive").as_uri(), tmp_path / "archive"
        return
    bucket = tmp_path / "served" / "bucket"
    bucket.mkdir(parents=True)
    with s3_server(tmp_path / "served") as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield "s3://bucket/kept", bucket / "kept"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of some parts."""
    path = tmp_path / "session.echoic"
    path.write_bytes(bytes(range(256)) * 10_000)
    return path


def test_what_is_kept_is_kept_once(place: tuple[str, Path], file: Path) -> None:
    """It is labelled, found, fetched as it was, and a second time nothing happens."""
    shelf = Shelf(opened(place[0]))
    first, again = shelf.keep(file, SESSION), shelf.keep(file, SESSION)
    (label,) = shelf.labels()
    back = fetched(f"{place[0]}/{SESSION.key}", file.parent / "..")

    assert (first, again) == (label, None)
    assert (label.first, label.last, label.size) == (1, 9, 2_560_000)
    assert back.read_bytes() == file.read_bytes()
    shelf.check(label)


def test_nothing_is_replaced(place: tuple[str, Path], file: Path) -> None:
    """Another file under the key of one that is there is refused."""
    shelf = Shelf(opened(place[0]))
    shelf.keep(file, SESSION)
    before = (place[1] / SESSION.key).read_bytes()
    file.write_bytes(b"another")

    with pytest.raises(Altered, match="another"):
        shelf.keep(file, SESSION)
    assert (place[1] / SESSION.key).read_bytes() == before


def test_an_upload_that_was_broken_off_is_done_again(
    place: tuple[str, Path], file: Path
) -> None:
    """Half an object has no label: it is not listed, and the next run replaces it."""
    half = place[1] / SESSION.key
    half.parent.mkdir(parents=True)
    half.write_bytes(file.read_bytes()[:1000])
    shelf = Shelf(opened(place[0]))
    listed = list(shelf.labels())
    with pytest.raises(NotFoundError):
        shelf.fetch(SESSION.key, file.parent / "x")
    stored = shelf.keep(file, SESSION)

    assert listed == []
    assert stored == next(iter(shelf.labels()))
    assert half.read_bytes() == file.read_bytes()


def test_what_was_altered_is_not_handed_out(
    place: tuple[str, Path], file: Path
) -> None:
    """One other byte is noticed, and no file is left."""
    shelf = Shelf(opened(place[0]))
    shelf.keep(file, SESSION)
    stored = place[1] / SESSION.key
    body = bytearray(stored.read_bytes())
    body[1_500_000] ^= 1
    stored.write_bytes(body)
    copy = file.parent / "copy"

    with pytest.raises(Altered, match="not what was stored"):
        shelf.fetch(SESSION.key, copy)
    with pytest.raises(Altered):
        shelf.check(next(shelf.labels()))
    assert not copy.exists()


def test_a_label_that_is_none_is_named(place: tuple[str, Path], file: Path) -> None:
    """Whatever else lies there is not taken for ours."""
    shelf = Shelf(opened(place[0]))
    shelf.keep(file, SESSION)
    (place[1] / (SESSION.key + LABEL)).write_bytes(b"{}")

    with pytest.raises(Altered, match="no label of ours"):
        list(shelf.labels())


@pytest.mark.parametrize("url", ["ftp://x/y", "s3:///x", "file://host/x", "/tmp/x"])
def test_other_places_are_refused(url: str) -> None:
    """The error says how one is written."""
    with pytest.raises(EchoicError, match="s3://BUCKET/PREFIX"):
        opened(url)


@pytest.mark.services
def test_a_store_that_refuses_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong secret, or nobody there: an error of ours, with the place."""
    (tmp_path / "served").mkdir()
    with s3_server(tmp_path / "served") as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        with pytest.raises(EchoicError, match="s3://bucket/kept refused"):
            list(Shelf(opened("s3://bucket/kept")).labels())
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(EchoicError, match="does not answer"):
        list(Shelf(opened("s3://bucket/kept", server.url)).labels())
