"""The program: settings, processes, commands, services and pages over the other packages.

`echoic.api` is what others may import; the rest may move with any version.
"""
