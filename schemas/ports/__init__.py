"""The mind's ports: aids from the shell, and the contexts and odds of strategies.

Shell and strategies implement these; the mind knows nothing else of them.
"""
