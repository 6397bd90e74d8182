"""What the pure mind is handed and what it hands out: aids of the shell, strategies' contexts.

Shell and strategies implement these; the mind knows nothing else of them.
"""
