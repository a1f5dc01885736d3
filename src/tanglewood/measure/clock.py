"""Time as people read it."""


def minutes(seconds: float) -> str:
    """Return minutes and seconds: ``2:05``."""
    whole = int(seconds)
    return f"{whole // 60}:{whole % 60:02d}"
