"""A bridge by which a game engine is a character's body: JSON over a WebSocket.

`messages` has what is sent either way, `seat` what waits for the engine of one character,
`server` the socket. It has a sensor's rights at the broker, and no more.
"""
