"""Where we print: results to standard output, everything else to standard error."""

from rich.console import Console

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def complain(message: str) -> None:
    """One line for a fault."""
    err.print("[bold red]bitrawl:[/]", end=" ")
    err.print(message, markup=False)


def size(count: float) -> str:
    """Bytes as a person reads them."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError


def duration(seconds: float) -> str:
    """Seconds as a person reads them."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
