"""What holds for every test: no network, a clean environment, a hypothesis profile."""

import gc
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

# Before the client of NATS, which we import without it: pages here speak WebSockets.
import aiohttp  # noqa: F401
import pytest
from hypothesis import HealthCheck, settings

from tests.environment import TALKATIVE, folder_in_memory
from tests.leaks import Watch

if TYPE_CHECKING:
    from tests.servers import Broker

_GUARD = Path(__file__).parent / "guard"
_WIPED_PREFIXES = ("ECHOIC_", "EXECUTIVE_", "OTEL_")
_WIPED = ("NATS_URL", "DATABASE_URL")


_LONG_FIXTURES = {"echoic", "live", "program"}
_LONG_MARKS = ("services", "slow", "crash")

_WATCH = Watch()
# Of one process, which those that it starts write to; whoever sets a folder has it.
_FOLDER = None if "TMPDIR" in os.environ else folder_in_memory()
if _FOLDER is not None:
    os.environ["TMPDIR"] = tempfile.tempdir = _FOLDER.name


def pytest_configure() -> None:
    """Close the network and clean the environment before any test is imported."""
    for name in list(os.environ):
        if name in _WIPED or name.startswith(_WIPED_PREFIXES):
            del os.environ[name]
    os.environ.update(TALKATIVE)
    # Whoever starts them by `nohup` or `&` ignores interruptions, and so would all that
    # they start, whose end by one is tested.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _guard_this_process_and_its_children()
    _WATCH.begin()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Run three processes on two cores: a third of the time a test waits for others."""
    return max(1, len(os.sched_getaffinity(0)) * 3 // 2)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with files that start programs, so that none of these is left for the end.

    xdist's own order is by the number of tests, of which the longest files have few.
    """
    long = {each.path for each in items if _is_long(each)}
    items.sort(key=lambda each: each.path not in long)


def _is_long(item: pytest.Item) -> bool:
    starts = _LONG_FIXTURES.intersection(getattr(item, "fixturenames", ()))
    return bool(starts) or any(map(item.get_closest_marker, _LONG_MARKS))


def pytest_unconfigure() -> None:
    """Leave the process as it was."""
    _WATCH.end()
    if _FOLDER is not None:
        _FOLDER.cleanup()


def pytest_collection_finish() -> None:
    """Take what was imported so far out of later collections: a test's end has one."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Fail the test that leaves a connection or a process open, once its fixtures ended."""
    try:
        done = yield
    finally:
        # Looked at also where a fixture failed: the next test is not to be blamed.
        is_of_servers = item.get_closest_marker("services") is not None
        left = _WATCH.left_open() if is_of_servers or _WATCH.has_some else []
    if left:
        pytest.fail(f"left open by this test: {'; '.join(left)}", pytrace=False)
    return done


def _guard_this_process_and_its_children() -> None:
    inherited = os.environ.get("PYTHONPATH")
    paths = [str(_GUARD), inherited] if inherited else [str(_GUARD)]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    sys.path.append(str(_GUARD))
    import network_guard

    network_guard.install()


@pytest.fixture
async def broker() -> AsyncIterator["Broker"]:
    """A real server with an empty log."""
    from tests.servers import fresh_broker

    async with fresh_broker() as running:
        yield running


@pytest.fixture
async def litellm_closed() -> AsyncIterator[None]:
    """Close the connections that litellm keeps, before the loop that they belong to ends.

    Left to the garbage collector they would be an error of whichever test runs then.
    """
    yield
    litellm = sys.modules.get("litellm")
    if litellm is not None:
        # Imported here, as few tests need a model.
        from handlers.effects.models import close_connections

        await close_connections(litellm)


@pytest.fixture(autouse=True)
def _struct_messages_are_valid() -> Iterator[None]:
    """The mind does not check what it makes; here it is checked."""
    from tests import checked_messages

    with checked_messages.watched() as found:
        yield
    assert not found


@pytest.fixture(autouse=True)
def _umask_is_put_back() -> Iterator[None]:
    """A command called in this process makes all it writes private, and so would we."""
    before = os.umask(0o022)
    os.umask(before)
    yield
    os.umask(before)


settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci",
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
