"""One decision, one trace: what the worker did, as spans that Jaeger can show.

The log explains a decision by itself; a trace adds where the time went. Nothing here
may slow the worker down or stop it.
"""
