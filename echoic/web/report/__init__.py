"""The comparison as one HTML page that needs nothing else: no network, no second file.

Its rule: pure functions from the comparison's JSON document to markup. The same document
gives the same bytes, and whatever a sensor said is text here, never markup.
"""

from echoic.web.report.page import render

__all__ = ["render"]
