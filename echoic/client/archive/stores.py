"""Where an archive is kept: a store with S3's API, or a folder.

Both know objects by a key and nothing more; what an archive needs of them is in `shelf`.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from echoic.errors import EchoicError, NotFoundError, NotRunningError
from echoic.packs.bundled import extra

READ_BYTES = 1_000_000


class ObjectStore(Protocol):
    """Objects by key, below one prefix."""

    url: str
    """Of the prefix, without a slash at its end."""

    def put(self, key: str, file: Path) -> None:
        """Store a file: whole, or not at all."""
        ...

    def chunks(self, key: str) -> Iterator[bytes]:
        """Yield what is stored.

        Raises:
            NotFoundError: there is none.
        """
        ...

    def names(self) -> Iterator[str]:
        """Yield the key of each object, in any order."""
        ...


def opened(url: str, endpoint: str | None = None) -> ObjectStore:
    """Open a store: `s3://bucket/prefix`, `file:///folder`.

    S3's credentials, region and endpoint are those of the environment and of `~/.aws`, as for
    any program with boto3.

    Raises:
        EchoicError: the URL is neither, or the extra `archive` is not installed.
    """
    parts = urlsplit(url)
    path = unquote(parts.path).strip("/")
    if parts.scheme == "file" and not parts.netloc and path:
        return FolderStore(Path("/" + path))
    if parts.scheme == "s3" and parts.netloc:
        return S3Store(parts.netloc, path, endpoint)
    raise EchoicError(
        f"{url!r} is no place for an archive: s3://BUCKET/PREFIX, file:///FOLDER"
    )


class FolderStore:
    """A folder, perhaps one that is mounted from elsewhere."""

    def __init__(self, folder: Path) -> None:
        """Use a folder; it is made with the first object."""
        self._folder = folder
        self.url = folder.as_uri()

    def put(self, key: str, file: Path) -> None:
        """Store a file: whole, or not at all."""
        place = self._folder / key
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = place.with_name(f".{place.name}.{os.getpid()}")
        try:
            with file.open("rb") as source, draft.open("wb") as target:
                shutil.copyfileobj(source, target)
                target.flush()
                os.fsync(target.fileno())
            draft.replace(place)
        finally:
            draft.unlink(missing_ok=True)

    def chunks(self, key: str) -> Iterator[bytes]:
        """Yield what is stored."""
        try:
            with (self._folder / key).open("rb") as file:
                while piece := file.read(READ_BYTES):
                    yield piece
        except FileNotFoundError as error:
            raise _missing(self.url, key) from error

    def names(self) -> Iterator[str]:
        """Yield the key of each object."""
        for path in self._folder.rglob("*"):
            if path.is_file() and not path.name.startswith("."):
                yield path.relative_to(self._folder).as_posix()


class S3Store:
    """A bucket of a store with S3's API."""

    def __init__(self, bucket: str, prefix: str, endpoint: str | None) -> None:
        """Use a bucket, which must exist.

        Raises:
            EchoicError: boto3 is not installed.
        """
        self._bucket, self._prefix = bucket, f"{prefix}/" if prefix else ""
        self.url = f"s3://{bucket}/{prefix}".rstrip("/")
        self._client = _client(endpoint)

    def put(self, key: str, file: Path) -> None:
        """Store a file; in parts, if it is large."""
        with _translated(self.url, key):
            self._client.upload_file(str(file), self._bucket, self._prefix + key)

    def chunks(self, key: str) -> Iterator[bytes]:
        """Yield what is stored."""
        with _translated(self.url, key):
            found = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key)
            yield from found["Body"].iter_chunks(READ_BYTES)

    def names(self) -> Iterator[str]:
        """Yield the key of each object."""
        pages = self._client.get_paginator("list_objects_v2")
        with _translated(self.url, ""):
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix):
                for each in page.get("Contents", ()):
                    yield str(each["Key"]).removeprefix(self._prefix)


def _client(endpoint: str | None) -> Any:
    # Imported here: only an archive in S3 needs it.
    try:
        import boto3  # type: ignore[import-untyped]
        from botocore.config import Config  # type: ignore[import-untyped]
    except ImportError as error:
        raise EchoicError(
            "an archive in S3 needs boto3", next_step=extra("archive")
        ) from error
    # Not every store with S3's API knows the newer checksums; digests of our own are
    # compared by reading back.
    config = Config(
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        retries={"mode": "standard", "max_attempts": 5},
    )
    return boto3.client("s3", endpoint_url=endpoint, config=config)


@contextmanager
def _translated(url: str, key: str) -> Iterator[None]:
    from boto3.exceptions import Boto3Error  # type: ignore[import-untyped]
    from botocore.exceptions import (  # type: ignore[import-untyped]
        BotoCoreError,
        ClientError,
    )

    try:
        yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in ("NoSuchKey", "404"):
            raise _missing(url, key) from error
        raise EchoicError(f"{url} refused {key!r}: {error}") from error
    except (BotoCoreError, Boto3Error) as error:
        raise NotRunningError(f"{url} does not answer: {error}") from error


def _missing(url: str, key: str) -> NotFoundError:
    return NotFoundError(f"there is no {url}/{key}")


Progress = Callable[[int], None]
"""Called with how many objects were stored."""
