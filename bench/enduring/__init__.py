"""An instance as processes that can be killed, and whether nothing of it was lost."""
