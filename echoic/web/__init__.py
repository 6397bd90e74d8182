"""What is seen in a browser: typed documents in, pages out."""
