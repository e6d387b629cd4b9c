"""Arguments in, printed lines out; what is done lies below. One file for each verb, loaded when it is used."""

import io
import os
import resource
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand

from bitrawl.cli.help import HelpfulGroup
from bitrawl.errors import BitrawlError, ConfigError, OutOfMemoryError
from bitrawl.version import __version__


class Verb(NamedTuple):
    """A command: the module that has it, and the first line of its help."""

    module: str
    help: str


VERBS = {
    "mine": Verb("mine", "Crawl sites and write a corpus of what is translated on them."),
    "crawl": Verb("crawl", "Visit sites and keep their pages."),
    "pair": Verb("pair", "Pair and align the pages of a job again, with other settings."),
    "align": Verb("align", "Align the sentences of two texts, or those of a job again."),
    "export": Verb("export", "Write the corpus of a job again, in more formats or with other thresholds."),
    "merge": Verb("merge", "Merge the corpora of several jobs into one, each text once."),
    "sample": Verb("sample", "Print some units of a corpus, to read."),
    "terms": Verb("terms", "List the terms of a corpus with their translations, and examples of both."),
    "report": Verb("report", "Draw the report of a job: one HTML file that opens offline."),
    "status": Verb("status", "Show how far a job is."),
    "check": Verb("check", "Check that the files of a job are as they were written, and repair what can be repaired."),
    "log": Verb("log", "List the fetches of a job in the order in which they were made."),
    "bootstrap": Verb("bootstrap", "Make a topic, seeds and a list of bilingual sites from a category of Wikipedia."),
    "discover": Verb("discover", "Find bilingual sites that nobody listed, check sites, and make link graphs."),
    "partition": Verb("partition", "Split WARC files that mix many sites into one file for each site."),
    "clean": Verb("clean", "Print the main text of pages, or every paragraph with its label."),
    "simulate": Verb("simulate", "Replay archived sites under several strategies and compare them."),
    "tune": Verb("tune", "Move the boundaries of a crawl by perplexity, also while it runs."),
    "topic": Verb("topic", "Make a term list from texts, explain what it says about a page, or translate it."),
    "urls": Verb("urls", "Tell the language of pages, and which are translations, from their URLs alone."),
    "serve": Verb("serve", "Open the web app: start jobs, watch them, read, judge and download what they find."),
    "demo": Verb("demo", "Mine a small web that comes with the package, and show the result."),
}


class Verbs(HelpfulGroup):
    """Loads a verb's module when the verb is used; the list of verbs needs none of them."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: TyperCommand(name, help=verb.help) for name, verb in VERBS.items()}
        self._listing = False

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - typer's
        if self._listing or cmd_name not in VERBS:
            return self.commands.get(cmd_name)
        app = import_module(f"bitrawl.cli.{VERBS[cmd_name].module}").app
        command = typer.main.get_command(app)
        command.name = cmd_name
        return command

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self._listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._listing = False


app = typer.Typer(
    name="bitrawl",
    cls=Verbs,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="A focused crawler for parallel and domain corpora.\n\n"
    "Begin with [bold]bitrawl demo[/], or with a site:\n\n"
    "[bold]bitrawl mine https://www.example.org/ --langs en,fr --out jobs/example[/]",
)


def _version(*, show: bool) -> None:
    if show:
        typer.echo(f"bitrawl {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    *,
    version: bool = typer.Option(
        False, "--version", help="Show the version.", callback=lambda value: _version(show=value), is_eager=True
    ),
) -> None:
    """See the help of each verb."""


READER_GONE = 141
"""The exit code when the reader of our output had enough: 128 and SIGPIPE, as a shell reports it."""


def main() -> None:
    """Run the `bitrawl` command: a fault is one line that names the fix, and an exit code."""
    _print_any_script()
    try:
        app(prog_name="bitrawl")
    except (BitrawlError, *_OUT_OF_MEMORY) as error:
        if _lacks_memory(error):
            _complain_of_memory()
            sys.exit(1)
        if not isinstance(error, BitrawlError):
            raise
        _complain(str(error))
        sys.exit(2 if isinstance(error, ConfigError) else 1)
    except KeyboardInterrupt:
        _complain("interrupted")
        sys.exit(130)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # as in `bitrawl log DIR | head`; typer ends with 1
            sys.exit(READER_GONE)
        raise


# What Python raises where there is no memory left: a library that cannot be loaded is an ImportError, a thread that cannot be
# started a RuntimeError. Only their texts tell them from others.
_OUT_OF_MEMORY = (MemoryError, ImportError, OSError, RuntimeError, SystemError)
_MEMORY_WORDS = (
    *("MemoryError", "failed to map segment", "cannot allocate memory", "bad_alloc", "can't start new thread"),
    "without exception set",  # a library whose own error could not be made either
    "without setting an exception",
)


def _lacks_memory(error: BaseException | None) -> bool:
    """Whether it, or what it came from, is a lack of memory; also of a child process that tells its traceback."""
    while error is not None:
        said = str(error).lower()
        if isinstance(error, MemoryError | OutOfMemoryError) or any(word.lower() in said for word in _MEMORY_WORDS):
            return True
        error = error.__cause__
    return False


def _complain_of_memory() -> None:
    """Without the console, which may not fit into what is left."""
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    why = "No memory is left on this machine" if most == resource.RLIM_INFINITY else _LIMITED.format(most // 1_000_000)
    message = f"bitrawl: {why}. Nothing that was written is lost: run the same command again with more memory.\n"
    with suppress(OSError, ValueError):
        os.write(2, message.encode())


_LIMITED = "This process may use only {} MB of address space (ulimit -v), which is too little. Allow at least 1000"


def _print_any_script() -> None:
    """Whatever the locale says: a file or a pipe gets UTF-8, as our files are; a terminal shows ? for what it has not."""
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if stream.isatty():
            stream.reconfigure(errors="replace")
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _complain(message: str) -> None:
    from bitrawl.cli.console import complain  # noqa: PLC0415 - rich takes a while to load

    complain(message)
