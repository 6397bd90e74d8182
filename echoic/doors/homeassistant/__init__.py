"""The door for Home Assistant: an agent as a device of it, by MQTT discovery."""
