"""Packs as folders of files: found, read with the positions of their lines, checked.

What is wrong in one is told with its place and how to mend it.
"""
