"""Characters: agents with a body, whose layers decide what they do."""
