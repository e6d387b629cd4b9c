"""Where we print: results to standard output, everything else to standard error."""

import time
from collections.abc import Callable, Iterable
from functools import partial

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bitrawl.model import Skip

TELL_EVERY = 2.0  # seconds

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)
print_out = partial(out.print, markup=False)
print_err = partial(err.print, markup=False)


def complain(message: str) -> None:
    """One line for a fault."""
    err.print("[bold red]bitrawl:[/]", end=" ")
    print_err(message)


def skip_text(skip: Skip) -> str:
    return f"{skip.reason}{f' ({skip.detail})' if skip.detail else ''}"


def size(count: float) -> str:
    """Bytes as a person reads them."""
    if count < 1000:
        return f"{count:.0f} B"
    for unit in ("kB", "MB"):
        count /= 1000
        if count < 1000:
            return f"{count:.1f} {unit}"
    return f"{count / 1000:.1f} GB"


def duration(seconds: float) -> str:
    """Seconds as a person reads them."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def print_rows(rows: Iterable[tuple[str, str]]) -> None:
    """Labels on the left, values on the right, to stay."""
    for label, value in rows:
        out.print(Text.assemble((f"{label:<11}", "bold cyan"), value))


def labelled(rows: Iterable[tuple[str, str]]) -> Table:
    """A live table: labels on the left, values on the right."""
    table = Table.grid(padding=(0, 2))
    for label, value in rows:
        table.add_row(Text(label, style="bold cyan"), Text(value))
    return table


def timed_lines() -> Callable[[str], None]:
    """Prints some of the lines that it gets, on standard error with the time: none in the first seconds."""
    began = printed_at = time.monotonic()

    def tell(line: str) -> None:
        nonlocal printed_at
        now = time.monotonic()
        if now - printed_at >= TELL_EVERY:
            printed_at = now
            print_err(f"{duration(now - began)}  {line}")

    return tell
