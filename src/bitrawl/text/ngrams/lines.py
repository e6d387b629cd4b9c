"""The lines of a text file with their numbers, whether it is gzipped or not. Faults name the file and the line."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from bitrawl.errors import ConfigError

_GZIP = b"\x1f\x8b"


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """From 1 on, without the line break. Raises `ConfigError`."""
    number = 0
    try:
        with path.open("rb") as file:
            packed = file.read(len(_GZIP)) == _GZIP
        with gzip.open(path, "rb") if packed else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                yield number, line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}, line {number}: not UTF-8 ({error.reason}); convert the file") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ConfigError(f"{path}, after line {number}: the gzip file is damaged or cut off") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error


def fault(path: Path, number: int, what: str) -> ConfigError:
    return ConfigError(f"{path}, line {number}: {what}")
