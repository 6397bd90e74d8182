"""Reading the replies of a recording again, with today's reader."""

from collections.abc import Sequence

from echoic.client.recordings import Source, opened, tell_altered
from replay.reread import Rereading
from schemas.codec.decode import read_input, read_output


async def reread(sources: Sequence[Source]) -> Rereading:
    """Read what models sent in all sources, and return where it differs from what was said.

    Raises:
        SessionFileError: a file is none, of another version, cut or damaged.
        RecordingError: there is no such session, or no decision in it.
        LogUnavailable: the broker does not answer.
    """
    rereading = Rereading()
    for source in sources:
        async with opened(source) as (recording, _):
            tell_altered(recording.origin, recording.altered)
            async for group in recording.groups():
                if recording.concerns(group):
                    outputs = [read_output(each) for each in group.outputs]
                    rereading.take(read_input(group.input), outputs)
    return rereading
