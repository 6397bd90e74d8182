"""Values that everything else is made of: ids, subjects, settings, vectors, exact numbers.

Each is the same, to the bit, under every Python and processor.
"""
