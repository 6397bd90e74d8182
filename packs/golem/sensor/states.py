"""The ten states of a body, and which may follow which, as upstream has them."""

from collections.abc import Sequence

IDLE, WALKING, ARRIVING = "Idle", "Walking", "Arriving"
SIT_TRANSITION, SITTING = "SitTransition", "Sitting"
STAND_TRANSITION = "StandTransition"
LOOKING, LEANING = "Looking", "Leaning"
PLAYING_ARCADE, PLAYING_CLAW = "PlayingArcade", "PlayingClaw"

STATES = (IDLE, WALKING, ARRIVING, SIT_TRANSITION, SITTING, STAND_TRANSITION, LOOKING,
          LEANING, PLAYING_ARCADE, PLAYING_CLAW)  # fmt: skip

_ONLY = {
    IDLE: {*STATES} - {STAND_TRANSITION, SITTING},
    SIT_TRANSITION: {SITTING, IDLE, WALKING},
    SITTING: {STAND_TRANSITION},
    STAND_TRANSITION: {IDLE, WALKING},
}
ALLOWED = {state: frozenset(_ONLY.get(state, STATES)) for state in STATES}
"""What may follow each; one that is not restricted may be followed by any."""

STILL = frozenset({SITTING, LOOKING, LEANING, PLAYING_ARCADE, PLAYING_CLAW})
"""Those in which a body is busy with something until it gets up."""


class Machine:
    """The state of a body."""

    def __init__(self) -> None:
        """Begin idle."""
        self.state = IDLE

    def request(self, state: str) -> bool:
        """Go over to a state; False, and nothing changes, if it may not follow."""
        if state not in ALLOWED[self.state]:
            return False
        self.state = state
        return True

    def way(self, state: str) -> Sequence[str]:
        """Return the states to go through to one: what may not follow at once does by these.

        Who sits gets up first; who is about to sit down stands still first.
        """
        via = {SITTING: (STAND_TRANSITION, IDLE), STAND_TRANSITION: (IDLE,)}
        direct = state in ALLOWED[self.state]
        before = () if direct else via.get(self.state, (IDLE,))
        return (*(each for each in before if each != state), state)
