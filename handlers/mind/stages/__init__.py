"""Stages: pure functions that each answer one question about an input; flows call them."""
