"""Off-policy evaluation: a strategy's value, estimated from another strategy's decisions.

It knows nothing of Echoic's messages. What the log does not support is bounded or refused.
"""
