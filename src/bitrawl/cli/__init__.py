"""Arguments in, printed lines out; what is done lies below. The module of a verb is loaded when the verb is used."""

import io
import os
import resource
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from bitrawl.errors import FAULT_FILE, BitrawlError, ConfigError, OutOfMemoryError, lacks_memory
from bitrawl.packages import Added, Verb, loaded
from bitrawl.version import __version__

# fmt: off
VERBS = {
    "mine": Verb("bitrawl.cli.mine:mine", "Crawl sites and write a corpus of what is translated on them.", "Start here"),
    "demo": Verb("bitrawl.cli.demo:demo", "Mine a small web that comes with the package, and show the result.", "Start here"),
    "serve": Verb("bitrawl.cli.serve:serve", "Open the web app: start jobs, watch them, read, judge and download what they find.", "Start here"),
    "discover": Verb("bitrawl.cli.discover:discover", "Find bilingual sites that nobody listed, check sites, and make link graphs.", "Before a crawl"),
    "bootstrap": Verb("bitrawl.cli.wikipedia:bootstrap", "Make a topic, seeds and a list of bilingual sites from a category of Wikipedia.", "Before a crawl"),
    "topic": Verb("bitrawl.cli.texts:topic", "Make a term list from texts, explain what it says about a page, or translate it.", "Before a crawl"),
    "crawl": Verb("bitrawl.cli.mine:crawl", "Visit sites and keep their pages.", "Jobs"),
    "pair": Verb("bitrawl.cli.mine:pair", "Pair and align the pages of a job again, with other settings.", "Jobs"),
    "align": Verb("bitrawl.cli.align:align", "Align the sentences of two texts, or those of a job again.", "Jobs"),
    "status": Verb("bitrawl.cli.status:status", "Show the progress of a job.", "Jobs"),
    "report": Verb("bitrawl.cli.status:report", "Write the report of a job: one HTML file that opens offline.", "Jobs"),
    "diff": Verb("bitrawl.cli.status:diff", "Show what is new, changed and gone since an earlier round of a job.", "Jobs"),
    "log": Verb("bitrawl.cli.folder_verbs:log", "List the fetches of a job in the order in which they were made.", "Jobs"),
    "sql": Verb("bitrawl.cli.folder_verbs:sql", "Ask a job in SQL. Nothing can be changed.", "Jobs"),
    "check": Verb("bitrawl.cli.status:check", "Check that the files of a job are as they were written, and repair what can be repaired.", "Jobs"),
    "tune": Verb("bitrawl.cli.folder_verbs:tune", "Move the boundaries of a crawl by perplexity, even while it runs.", "Jobs"),
    "sample": Verb("bitrawl.cli.folder_verbs:sample", "Print some units of a corpus, to read.", "Corpora"),
    "terms": Verb("bitrawl.cli.folder_verbs:terms", "List the terms of a corpus with their translations, and examples of both.", "Corpora"),
    "export": Verb("bitrawl.cli.mine:export", "Write the corpus of a job again, in more formats or with other thresholds.", "Corpora"),
    "merge": Verb("bitrawl.cli.many_sites:merge", "Merge the corpora of several jobs into one, each text once.", "Corpora"),
    "clean": Verb("bitrawl.cli.texts:clean", "Print the main text of pages, or every paragraph with its label.", "Tools"),
    "urls": Verb("bitrawl.cli.urls:urls", "Tell the language of pages, and which are translations, from their URLs alone.", "Tools"),
    "partition": Verb("bitrawl.cli.many_sites:partition", "Split WARC files that mix many sites into one file for each site.", "Tools"),
}
# fmt: on
ADDED = Added("bitrawl.verbs", "verb", "verbs", VERBS)
"""An entry is a `Verb`. Ours win."""


# In place of typer's <int>, <path> and so on
_WORDS = {"int": "N", "int range": "N", "float": "NUMBER", "float range": "NUMBER", "path": "PATH", "str": "TEXT"}
_MANY = 30  # options
_USUAL = frozenset(
    "seeds out seeds_file sites langs topic texts contact delay max_pages formats refresh dry_run quiet".split()
)


class HelpfulCommand(TyperCommand):
    """A command whose help has a word for each value, in place of Python's types; so have its complaints.

    Where there are many flags, `--help` shows what most people need, and `--help-all` the rest.
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        many: list[Any] = self.params if len(self.params) > _MANY else []
        self.rare = [flag for flag in many if flag.name not in _USUAL]
        if self.rare:
            self.params.append(
                TyperOption(
                    param_decls=["--help-all"],
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=self._help_all,
                    help=f"Show {len(self.rare)} more options.",
                )
            )

    def _help_all(self, ctx: Any, _option: Any, asked: bool) -> None:  # noqa: FBT001 - typer's
        if asked:
            self.rare = []
            typer.echo(ctx.get_help())
            ctx.exit()

    def get_params(self, ctx: Any) -> Any:
        return _worded(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        shown = [flag for flag in self.rare if not flag.hidden]
        for flag in shown:
            flag.hidden = True
        super().format_help(ctx, formatter)
        for flag in shown:
            flag.hidden = False


class HelpfulGroup(TyperGroup):
    """A group of commands whose help has a word for each value, as `HelpfulCommand` has."""

    def get_params(self, ctx: Any) -> Any:
        return _worded(super().get_params(ctx))


@cache
def verbs() -> dict[str, Verb]:
    """Ours, then those that packages add, but for those that cannot be used."""
    table = dict(VERBS)
    for name in ADDED.others():
        with suppress(ConfigError):
            table[name] = _added_verb(name)
    return table


def _added_verb(name: str) -> Verb:
    verb = ADDED.loaded(name)
    if not isinstance(verb, Verb):
        raise ADDED.fault(name, "is not a bitrawl.packages.Verb")
    return verb


def _worded(parameters: Any) -> Any:
    """A flag without a value gets no word, and a parameter that has a word keeps it."""
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            parameter.type.get_metavar = lambda **_: ""  # its name says what it is
        elif parameter.metavar is None:
            word = _WORDS.get(parameter.type.name)  # None: typer lists the choices
            parameter.metavar = "" if parameter.is_flag else word
    return parameters


def group(name: str, text: str, cls: type[HelpfulGroup] = HelpfulGroup) -> typer.Typer:
    """A verb that has commands of its own."""
    return typer.Typer(
        name=name, cls=cls, rich_markup_mode="rich", add_completion=False, no_args_is_help=True, help=text
    )


class Verbs(HelpfulGroup):
    """Loads a verb's module when the verb is used; the list of verbs needs none of them."""

    _listing = False

    @property  # type: ignore[override]
    def commands(self) -> dict[str, Any]:
        """Their names alone."""
        return dict.fromkeys(verbs())

    @commands.setter
    def commands(self, _given: Any) -> None:
        """Typer has none to give."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer's
        return list(verbs())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - typer's
        if self._listing:
            listed = verbs()[cmd_name]
            return TyperCommand(cmd_name, help=listed.help, rich_help_panel=listed.panel)
        if cmd_name not in VERBS and cmd_name not in ADDED.names() and "simulate" in ADDED.names():
            return None  # where our own is missing, too, bitrawl is not installed, which `_added_verb` says
        verb = loaded((VERBS.get(cmd_name) or _added_verb(cmd_name)).function)
        if not isinstance(verb, typer.Typer):
            function, verb = verb, typer.Typer(rich_markup_mode="rich", add_completion=False)
            verb.command(cls=HelpfulCommand)(function)
        command = typer.main.get_command(verb)
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
        if lacks_memory(error):
            _note_fault(OutOfMemoryError())
            _complain_of_memory()
            sys.exit(1)
        if not isinstance(error, BitrawlError):
            raise
        _note_fault(error)
        _complain(str(error))
        sys.exit(2 if isinstance(error, ConfigError) else 1)
    except KeyboardInterrupt:
        _complain("interrupted")
        sys.exit(130)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # as in `bitrawl log DIR | head`; typer ends with 1
            sys.exit(READER_GONE)
        raise


_OUT_OF_MEMORY = (MemoryError, ImportError, OSError, RuntimeError, SystemError)
"""What `lacks_memory` may be true of."""


def _complain_of_memory() -> None:
    """Without the console, which may not fit into what is left."""
    why, most = "No memory is left on this machine", resource.getrlimit(resource.RLIMIT_AS)[0]
    if most != resource.RLIM_INFINITY:
        why = f"This process may use only {most // 1_000_000} MB of address space (ulimit -v), which is too little."
        why += " Allow at least 1000"
    message = f"bitrawl: {why}. Nothing that was written is lost: run the same command again with more memory.\n"
    with suppress(OSError, ValueError):
        os.write(2, message.encode())


def _note_fault(error: BitrawlError) -> None:
    """For the web app, if it started this command: what is printed is English, and nobody should have to read that."""
    if not (path := os.environ.get(FAULT_FILE)):
        return
    import msgspec  # and the next: only for a command that fails

    from bitrawl.endings import Fault

    with suppress(OSError, MemoryError):
        Path(path).write_bytes(msgspec.json.encode(Fault.of(error)))


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
    from bitrawl.cli.console import complain  # rich takes a while to load

    complain(message)
