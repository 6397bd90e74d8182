"""The talker: a model says what a character says, and what it is after."""
