"""Live experiments: trials from the log, analysed as switchbacks.

Outcomes of whole sessions are judged here too.
"""
