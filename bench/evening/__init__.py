"""An hour with the companion: drawn from a grammar, lived by the mind in memory, and judged.

- `matters` is what may happen, and what a reasonable person wants of each event.
- `grammar` draws an evening of it: bursts, chats, calls, commands, absences, a bad model.
- `playing` lets a mind live through it.
- `judging` holds what came of it against what was true at each moment.
"""
