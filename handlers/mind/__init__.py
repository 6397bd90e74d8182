"""The pure mind: an input and a state in, the messages that answer it out.

`turn` is the drivers' entry; `handle` dispatches to `flows`, which call `stages` and
`strategies`.
"""
