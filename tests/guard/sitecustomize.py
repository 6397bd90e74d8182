"""Python imports this at start if `tests/guard` is on its path: see `network_guard`."""

import network_guard

network_guard.install()
