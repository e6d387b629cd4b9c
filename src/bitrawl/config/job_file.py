"""A job as a TOML file, as flags over one, and as it may be published."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from bitrawl.config.resolving import with_paths
from bitrawl.config.schema import Job
from bitrawl.errors import ConfigError
from bitrawl.files import write as write_file

_SHOWN = 60  # characters of a line that cannot be read


def read(path: Path, *, what: str = "job file") -> dict[str, Any]:
    """A job file's content, not yet checked."""
    try:
        text = path.read_text("utf-8-sig")
        return tomllib.loads(text + "\n")  # so that a fault in the last line is told with its line
    except FileNotFoundError as error:
        raise ConfigError(f"there is no {what} {path}") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not a text file in UTF-8; a {what} is TOML") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a `ValueError`
        raise ConfigError(f"{path}{_toml_fault(str(error), text)}") from error


# How the messages of Python's reader begin, and what to write.
_TOML_ADVICE = {
    "Cannot overwrite a value": "the key is there twice; keep one",
    "Cannot declare": "the table is there twice; write its keys below one of them",
    "Expected ']'": "end the name of the table with ]",
    "Unclosed array": "end the list with ]",
    "Expected '=' after a key": 'write key = value, as in langs = "en,fr"',
    "Invalid statement": 'write key = value, as in langs = "en,fr"',
}
_QUOTES = 'put texts in quotes, as in langs = "en,fr"'


def _toml_fault(error: str, text: str) -> str:
    """Where the file is not TOML, and what to write there, in a sentence of ours."""
    place = re.search(r"\(at line (\d+), column \d+\)", error)
    advice = next((advice for begin, advice in _TOML_ADVICE.items() if error.startswith(begin)), _QUOTES)
    if "end of document" in error:
        return " is not TOML: it ends too early; close the last quote or bracket"
    if place is None:
        return " is not TOML: a value is too long, or nested too deeply"
    line = text.splitlines()[int(place[1]) - 1].strip() if int(place[1]) <= text.count("\n") + 1 else ""
    if re.search(r"=\s*(?:True|False|None)\b", line):
        advice = "write true or false, in lowercase letters, or leave the line out"
    return f", line {place[1]} is not TOML: {line[:_SHOWN]!r}; {advice}"


def write(job: Job, path: Path) -> None:
    """The resolved job, complete under its name or not there at all; without the password of a proxy."""
    head = "# What you asked for. The same command resumes.\n"
    if _without_password(job.fetch.proxy) != job.fetch.proxy:
        head += "# The proxy's password is not kept: give it again with --proxy, or set HTTP_PROXY and HTTPS_PROXY.\n"
    write_file(path, head + text_of(job))


def text_of(job: Job) -> str:
    """As a job file, without the password of a proxy: it is given again on the command line or in the environment."""
    fetch = msgspec.structs.replace(job.fetch, proxy=_without_password(job.fetch.proxy))
    return tomli_w.dumps(_without_none(msgspec.to_builtins(msgspec.structs.replace(job, fetch=fetch))))


def public_text_of(job: Job) -> str:
    """As a job file that may be published: no credentials, no contact, and nothing of this machine but file names."""
    fetch = msgspec.structs.replace(job.fetch, contact="", proxy="", connect_to={})
    render = msgspec.structs.replace(job.render, browser="")
    return text_of(with_paths(msgspec.structs.replace(job, fetch=fetch, render=render), _public))


def _public(kind: str, name: str) -> str:
    """Without its folders; the name of a public model as it is."""
    if kind == "folder or model" and not (Path(name).is_absolute() or name.startswith((".", "~"))):
        return name
    code, mark, path = name.partition("=") if kind == "file of a language" else ("", "", name)
    return f"{code}{mark}{Path(path).name}"


def _without_password(proxy: str) -> str:
    scheme, mark, rest = proxy.rpartition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2]}"


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return value


def merged(described: Mapping[str, Any], flags: Mapping[str, Any]) -> dict[str, Any]:
    """Flags over file: a flag that was given wins; tables are merged key by key."""
    result = dict(described)
    for key, value in flags.items():
        if isinstance(value, Mapping) and isinstance(result.get(key, {}), Mapping):
            result[key] = merged(result.get(key, {}), value)
        elif value is not None:
            result[key] = value
    return {key: value for key, value in result.items() if value != {}}


def inputs_of(job: Job) -> list[str]:
    """All files and folders that a job names."""
    names: list[str] = []

    def note(kind: str, name: str) -> str:
        path = name.partition("=")[2] if kind == "file of a language" else name
        if path and "://" not in path and (kind != "folder or model" or Path(path).is_dir()):
            names.append(path)
        return name

    with_paths(job, note)
    return names
