"""Hostile inputs in great numbers, each of which has to be answered."""
