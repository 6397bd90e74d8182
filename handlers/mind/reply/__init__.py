"""One reader of what models reply: whole and streamed, to sensors and to persons.

It decides from the recorded reply alone, so that a replay reads it again. Nothing here knows
of decisions: it says what a reply says, or what is wrong with it.
"""
