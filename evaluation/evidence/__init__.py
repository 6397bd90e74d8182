"""The evidence of recordings, gathered, checked, and folded again under other settings."""
