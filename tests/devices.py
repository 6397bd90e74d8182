"""The end of an MQTT client of Paho's."""

import paho.mqtt.client as paho


def end(client: paho.Client) -> None:
    """Disconnect, and leave nothing open."""
    client.disconnect()
    client.loop_stop()
    # The library leaves a pair of sockets of its own to the garbage collector.
    client._reset_sockets()
