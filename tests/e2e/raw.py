"""A client of the broker that checks nothing: any bytes as subject, headers and body."""

import asyncio
import json
from collections.abc import Sequence
from urllib.parse import urlsplit

from streams.jetstream.accounts import Credentials
from tests.patience import PATIENCE_S


async def publish_raw(
    credentials: Credentials, messages: Sequence[tuple[bytes, bytes, bytes]]
) -> None:
    """Publish as a client that checks nothing, each message over a connection of its own.

    A broker that takes offence closes the connection, which concerns nobody else.
    """
    await asyncio.gather(*(_publish(credentials, *message) for message in messages))


async def _publish(
    credentials: Credentials, subject: bytes, headers: bytes, body: bytes
) -> None:
    address = urlsplit(credentials.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        hello = {
            "user": credentials.user,
            "pass": credentials.password,
            "headers": True,
            "verbose": False,
            "pedantic": False,
            "no_responders": True,
        }
        head = b"NATS/1.0\r\n" + headers + b"\r\n"
        sizes = f"{len(head)} {len(head) + len(body)}".encode()
        writer.write(
            b"CONNECT " + json.dumps(hello).encode() + b"\r\n"
            b"HPUB " + subject + b" " + sizes + b"\r\n" + head + body + b"\r\nPING\r\n"
        )
        async with asyncio.timeout(PATIENCE_S):
            while (line := await reader.readline()) and not line.startswith(b"PONG"):
                continue
    except ConnectionError:
        return
    finally:
        writer.close()
