"""The AI's side of the Neuro API, by which games let somebody play them.

`messages` has what games send, `choosing` finds data that fits an action, `seat` plays one
game for a companion. It has a sensor's rights at the broker, and no more.
"""
