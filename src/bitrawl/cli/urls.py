"""`bitrawl urls`: what URLs alone tell, apart from any job."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from bitrawl.cli import HelpfulCommand, group
from bitrawl.cli.console import complain
from bitrawl.errors import ConfigError, UrlError
from bitrawl.languages import parse_language, same_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.url import Url
from bitrawl.urls import URL_PAIR_SCORE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bitrawl.protocols import UrlLanguageModel

urls = group(
    "urls",
    "Tell the language of pages, and which are translations, from their URLs alone.\n\n"
    "Example: [bold]bitrawl urls language --langs en,fr < urls.txt[/]\n\n"
    "Nothing is fetched.",
)

_FILES_HELP = "Text files with one URL per line. Without a file, standard input is read."
Files = Annotated[list[Path] | None, Argument(help=_FILES_HELP, metavar="FILE", show_default=False)]
_BATCH = 500
_Answer = Callable[[Sequence[Url]], list[list[tuple[Language, float]]]]


@urls.command(cls=HelpfulCommand)
def language(
    files: Files = None,
    *,
    langs: Annotated[
        str, Option(help="Choose among these languages only: en,fr", metavar="CODES", show_default="all")
    ] = "",
    top: Annotated[
        int, Option(min=1, help="Print this many languages for each URL, the most likely first.", metavar="N")
    ] = 1,
    rules: Annotated[bool, Option("--rules", help="Look for language codes only, and use no model.")] = False,
) -> None:
    """Print for each URL the language of its page: URL, language, probability.

    Example: [bold]bitrawl urls language --langs en,fr < urls.txt[/]

    Where the URL does not tell the language, it is und. A line that is not a URL is printed with und and 0, and counted.
    """
    from bitrawl.urls import LinearUrlLanguageModel

    answer = _by_rules(langs) if rules else _by_model(LinearUrlLanguageModel(), langs, top)
    bad = 0
    lines = _lines(files or [])
    while batch := list(islice(lines, _BATCH)):
        parsed = [_parsed(line) for line in batch]
        answers = iter(answer([url for url in parsed if url is not None]))
        for line, url in zip(batch, parsed, strict=True):
            bad += url is None
            for code, chance in next(answers) if url is not None else [(UNDETERMINED, 0.0)]:
                typer.echo(f"{line}\t{code}\t{chance:.4g}")
    _complain_of_lines(bad)


def _lines(files: Sequence[Path]) -> Iterator[str]:
    """Without empty ones; bytes that are no UTF-8 are replaced. A `ConfigError` for what is no text at all."""
    for file in files:
        try:
            with file.open("rb") as opened:
                yield from _decoded(opened, str(file))
        except OSError as error:
            raise ConfigError(f"{file} cannot be read: {error.strerror}") from error
    if not files:
        yield from _decoded(sys.stdin.buffer, "standard input")


def _decoded(lines: Iterable[bytes], name: str) -> Iterator[str]:
    for number, line in enumerate(lines):
        if b"\0" in line:
            raise ConfigError(f"{name} is not a text file; write one URL per line")
        if stripped := line.decode("utf-8" if number else "utf-8-sig", "replace").strip():
            yield stripped


def _parsed(line: str) -> Url | None:
    try:
        return Url.parse(line)
    except UrlError:
        return None


def _complain_of_lines(count: int) -> None:
    if count:
        lines = f"{count:,} lines are not URLs" if count > 1 else "1 line is not a URL"
        complain(f"{lines}; write URLs in full, as in https://www.example.org/")


def _columns(model: UrlLanguageModel, langs: str) -> list[int]:
    """Of the languages asked for, and of "und"; all where none is."""
    every = list(range(len(model.languages)))
    codes = langs.replace(",", " ").split()
    if not codes:
        return every
    columns = []
    for code in codes:
        bare = Language(parse_language(code).partition("-")[0])
        numbers = [number for number in every if same_language(model.languages[number], bare)]
        if not numbers:
            raise ConfigError(f"{code} is not one of the {len(every) - 1} languages that can be identified from a URL")
        columns += numbers
    return [*dict.fromkeys(columns), len(every) - 1]


def _by_model(model: UrlLanguageModel, langs: str, top: int) -> _Answer:
    import numpy as np

    columns = _columns(model, langs)

    def answer(urls: Sequence[Url]) -> list[list[tuple[Language, float]]]:
        chances: NDArray[np.float32] = model.distribution(urls)[:, columns]
        chances /= np.maximum(chances.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
        order = np.argsort(-chances, axis=1, kind="stable")[:, :top]
        return [
            [(model.languages[columns[n]], float(row[n])) for n in numbers]
            for row, numbers in zip(chances, order.tolist(), strict=True)
        ]

    return answer


def _by_rules(langs: str) -> _Answer:
    from bitrawl.urls import language_by_rules

    wanted = [parse_language(code) for code in langs.replace(",", " ").split()]

    def answer(urls: Sequence[Url]) -> list[list[tuple[Language, float]]]:
        answers = []
        for code in map(language_by_rules, urls):
            is_wanted = not wanted or any(same_language(code, language) for language in wanted)
            answers.append([(code, 1.0) if code != UNDETERMINED and is_wanted else (UNDETERMINED, 0.0)])
        return answers

    return answer


@urls.command(cls=HelpfulCommand)
def pairs(
    files: Files = None,
    *,
    langs: Annotated[str, Option(help="The two languages: en,fr", metavar="CODES")],
    threshold: Annotated[
        float, Option(min=0, max=1, help="Print only pairs that score at least this.", metavar="SCORE")
    ] = URL_PAIR_SCORE,
    rules: Annotated[
        bool, Option("--rules", help="Pair URLs that differ only in a language code, and use no model.")
    ] = False,
) -> None:
    """Print the URLs whose pages are likely to be translations of each other: first, second, score.

    Example: [bold]bitrawl urls pairs --langs en,fr < urls.txt[/]

    All URLs of a site are compared together: the more of them you give, the better. A line that is not a URL is counted.
    """
    from bitrawl.urls import match_urls, rule_pairs

    languages = [parse_language(code) for code in langs.replace(",", " ").split()]
    if len(languages) != 2 or languages[0] == languages[1]:
        raise ConfigError(f"--langs {langs}: pairs need two languages, as in en,fr")
    sites: dict[str, list[Url]] = {}
    bad = 0
    for line in _lines(files or []):
        if (url := _parsed(line)) is None:
            bad += 1
        else:
            sites.setdefault(url.site.partition(".")[0], []).append(url)
    for site in sites.values():
        matches = rule_pairs(site, *languages) if rules else match_urls(site, *languages, threshold=threshold)
        for pair in matches:
            typer.echo(f"{pair.url_a}\t{pair.url_b}\t{pair.score:.4g}")
    _complain_of_lines(bad)
