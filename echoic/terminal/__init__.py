"""What is seen in a terminal: typed documents in, text out."""
