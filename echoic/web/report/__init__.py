"""The comparison as one HTML page that needs nothing else: no network, no second file.

Templates, style and script stand beside the few functions that they call.
"""
