"""What is seen in a browser: typed documents in, pages out.

A page is one file that needs no network.
"""
