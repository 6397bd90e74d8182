"""The settings: each declared once, with its range and its help.

They are read from defaults, a file, the environment and flags, in this order.
"""
