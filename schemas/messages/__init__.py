"""Every message that the log may hold: inputs of the world, outputs of the mind.

Names and fields are wire format: they are only ever added to.
"""
