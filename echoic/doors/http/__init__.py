"""The HTTP door: events, votes and outcomes come in; decisions go out."""
