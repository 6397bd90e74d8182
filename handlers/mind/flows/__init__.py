"""What happens, one module each: decide, consult a model, conclude, form, propose, reflect.

A flow emits messages; what it must know it asks the stages.
"""
