"""The demo: a recorded game played through a throw-away instance, and told."""
