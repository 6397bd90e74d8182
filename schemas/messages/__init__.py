"""Every message that the log may hold: inputs from the world, outputs of the mind.

Names and fields are wire format: they may be added to, never renamed or removed.
"""
