"""Report what was learnt: each move of confidence with its cause, and its effect on answers.
Everything here reads recordings, and nothing that it finds goes back into the log.
"""
