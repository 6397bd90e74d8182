"""The shape of the code, measured: `python -m bench.shape`."""
