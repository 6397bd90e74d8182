"""What happens, one module each: decide, consult a model, conclude, form, propose, reflect.

A flow calls stages for what it must know, and emits messages on its `turn`.
"""
