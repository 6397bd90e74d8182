"""The vocabulary: messages of the log, states made of them, packs, exact numbers.

Everything here is a value or reads one; nothing imports another package of ours or does
I/O.
"""
