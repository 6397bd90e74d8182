"""Small messages for tests of the log, which does not care what they mean."""

from schemas.values.record import Wire
from schemas.values.subjects import input_subject, output_subject
from streams.log import GroupWrite, WritableLog


def an_input(name: str = "a", *, partition: int = 11, agent: str = "ada") -> Wire:
    """A control that bears a name."""
    return Wire(
        subject=input_subject(partition, agent, "control", "session_started"),
        headers={"ce-id": name, "ce-type": "echoic.session_started"},
        body=name.encode(),
    )


def an_output(
    cause: int, index: int = 0, count: int = 1, *, partition: int = 11, body: str = "{}"
) -> Wire:
    """One output of the group that answers `cause`."""
    return Wire(
        subject=output_subject(partition, "ada", "note", "handled"),
        headers={
            "ce-id": f"{cause}/{index}",
            "ce-causeseq": str(cause),
            "ce-causeid": "a",
            "ce-index": str(index),
            "ce-count": str(count),
        },
        body=body.encode(),
    )


def a_group(cause: int, count: int = 1, *, partition: int = 11) -> tuple[Wire, ...]:
    """A whole group."""
    return tuple(
        an_output(cause, index, count, partition=partition) for index in range(count)
    )


async def append_inputs(
    log: WritableLog, count: int, *, partition: int = 11
) -> list[int]:
    """Append so many inputs, and return their sequences."""
    return [
        await log.append(an_input(f"i{n}", partition=partition), f"e:{partition}:{n}")
        for n in range(count)
    ]


async def answer_all(
    log: WritableLog, causes: list[int], *, count: int = 1, partition: int = 11
) -> None:
    """Answer inputs with a group each, one write a group, from the log's beginning."""
    last = 0
    for cause in causes:
        write = GroupWrite(partition, last, a_group(cause, count, partition=partition))
        last = (await log.commit([write]))[partition]
