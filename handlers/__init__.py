"""What answers inputs: the pure mind, the worker that runs it, and the effects it asks for.

`mind` decides; `worker` reads and appends; `effects` calls models and delivers responses.
"""
