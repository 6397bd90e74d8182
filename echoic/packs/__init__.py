"""Packs as folders of files: found, read with the positions of their lines, checked.

Each problem is reported with its place and advice.
"""
