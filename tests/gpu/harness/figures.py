"""Medians, spreads and how they are written. Pure."""

import statistics


def summary(values):
    """Median, smallest, largest, count, and the spread: (largest - smallest) / median."""
    if not values:
        raise ValueError("no values")
    median = statistics.median(values)
    low, high = min(values), max(values)
    return {
        "median": median,
        "low": low,
        "high": high,
        "count": len(values),
        "spread": (high - low) / median if median else 0.0,
    }


def quantile(values, share):
    """The value below which ``share`` of the values lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def number(value):
    """A figure with four significant digits, or a dash where there is none."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, int) or isinstance(value, str):
        return str(value)
    magnitude = abs(value)
    if magnitude >= 1000:
        return f"{value:.0f}"
    if magnitude >= 100:
        return f"{value:.1f}"
    if magnitude >= 10:
        return f"{value:.2f}"
    return f"{value:.3f}"


def with_spread(values):
    """``median (low–high)``."""
    if not values:
        return "–"
    figures = summary(values)
    return f"{number(figures['median'])} ({number(figures['low'])}–{number(figures['high'])})"


def ratio(values, base):
    """Median of values over median of base, or None where one is missing."""
    if not values or not base:
        return None
    below = statistics.median(base)
    return statistics.median(values) / below if below else None


def verdict(value, bound, at_least=True):
    """``met`` or ``missed`` against a bound; a dash where there is no value."""
    if value is None:
        return "–"
    met = value >= bound if at_least else value <= bound
    return "met" if met else "missed"
