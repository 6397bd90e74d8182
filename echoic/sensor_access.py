"""Credentials for sensors, from the embedded broker of a data folder.

Its rule: a sensor gets the rights of one source of one agent and nothing else; whoever
may write the data folder may hand them out.
"""

from echoic.errors import EchoicError
from echoic.settings import Settings
from schemas.subjects import SubjectError
from streams.accounts import Credentials
from streams.server import add_sensor


async def sensor_credentials(
    settings: Settings, agent: str, source: str, grants: tuple[str, ...] = ()
) -> Credentials:
    """The credentials of a sensor; the same each time, with these grants.

    Raises:
        EchoicError: the broker is not ours, or the rights cannot be given.
    """
    if settings.nats_url is not None:
        raise EchoicError(
            "the broker is not ours: it hands out its own credentials",
            next_step="give the sensor a user there, and name its file: --credentials",
        )
    try:
        return await add_sensor(settings.data / "nats", agent, source, grants)
    except (SubjectError, ValueError) as error:
        raise EchoicError(str(error)) from error
