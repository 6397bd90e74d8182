"""Bytes to messages and states, and back.

What is written once is read for ever: old versions are upcast, and bytes never change.
"""
