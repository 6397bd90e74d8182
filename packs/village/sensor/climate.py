"""Day, night, temperature and weather, each a function of seed and time."""

import math

from schemas.values.ids import draw

DAY_S = 86_400.0
HOUR_S = 3_600.0

_SPELL_S = 3 * HOUR_S
"""How long one weather lasts."""
_WEATHERS = (("sunny", 0.5), ("cloudy", 0.75), ("rain", 0.92), ("storm", 1.0))
"""Each with the upper end of its share."""
_COOLER = {"sunny": 0.0, "cloudy": 1.5, "rain": 4.0, "storm": 7.0}

_MEAN_C = 15.0
_SWING_C = 8.0
_WARMEST_H = 15.0

COMFORT_C = (12.0, 28.0)
"""Between which villagers are comfortable."""
HOUSE_C = 8.0
FIRE_C = 10.0
"""By how much it is warmer in a house, and beside a fire."""


def hour(at: float) -> float:
    """Return the hour of the day, 0 to 24."""
    return at % DAY_S / HOUR_S


def weather(seed: str, at: float) -> str:
    """Return the weather."""
    drawn = draw(seed, "land", str(int(at // _SPELL_S)), "weather")
    return next(name for name, share in _WEATHERS if drawn < share)


def outside(seed: str, at: float) -> float:
    """Return the temperature in the open, in degrees, to a tenth."""
    turn = (hour(at) - _WARMEST_H) / 24 * 2 * math.pi
    warm = _MEAN_C + _SWING_C * math.cos(turn)
    return round(warm - _COOLER[weather(seed, at)], 1)


def is_dark(at: float) -> bool:
    """Tell whether it is night."""
    return not 6 <= hour(at) < 21
