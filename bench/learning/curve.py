"""The learning curve as SVG: System 1's share of each hour, and how good its advice is."""

from collections.abc import Callable, Sequence

from bench.learning.measuring import Hour

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 260, 44, 36, 16
LINES: tuple[tuple[str, str, Callable[[Hour], float]], ...] = (
    ("#2563eb", "System 1's share", lambda hour: hour.share),
    ("#7c3aed", "where advice helps", lambda hour: hour.needed_share),
    ("#16a34a", "its advice is right", lambda hour: hour.system_1.goodness),
    ("#9ca3af", "the model's", lambda hour: hour.system_2.goodness),
    # Two calls for one occasion (answer and rule) would leave the plot: cut at one.
    ("#dc2626", "model calls, each", lambda hour: min(1.0, hour.calls_each)),
    ("#f59e0b", "asked where silence is best", lambda hour: hour.needless_share),
)


def drawing(hours: Sequence[Hour]) -> str:
    """Return the hours as an SVG image."""
    parts = [_scale(len(hours))]
    for place, (color, name, value) in enumerate(LINES):
        points = " ".join(
            f"{_x(number, len(hours)):.1f},{_y(value(hour)):.1f}"
            for number, hour in enumerate(hours)
        )
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{color}"'
            ' stroke-width="2"/>'
            f'<text x="{LEFT + 8 + 122 * place}" y="{HEIGHT - 2}"'
            f' fill="{color}">{name}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="11">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _scale(count: int) -> str:
    lines = [
        f'<path d="M{LEFT} {_y(share):.1f}H{WIDTH - 8}" stroke="#e5e7eb"/>'
        f'<text x="6" y="{_y(share) + 4:.1f}" fill="#6b7280">{share:.0%}</text>'
        for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    hours = [
        f'<text x="{_x(number, count) - 3:.1f}" y="{HEIGHT - BOTTOM + 16}"'
        f' fill="#6b7280">{number + 1}</text>'
        for number in range(count)
    ]
    return "".join(lines + hours)


def _x(number: int, count: int) -> float:
    # One hour alone has no distance to share out.
    return LEFT + 12 + number * (WIDTH - LEFT - 32) / max(1, count - 1)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)
