"""What packages add to bitrawl by entry points: strategies, formats, verbs. Our own strategies of the papers come in like that.

A package is looked up only where its name may be meant, and what is wrong with it is told there.
"""

from collections.abc import Callable, Container
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from bitrawl.errors import BitrawlError, ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OURS = "bitrawl"


class EntryGroup(StrEnum):
    """The groups of entry points, and what an entry of each is."""

    noun: str

    def __new__(cls, name: str, noun: str) -> Self:
        row = str.__new__(cls, name)
        row._value_, row.noun = name, noun
        return row

    STRATEGIES = ("bitrawl.strategies", "strategy")  # is called with `StrategyInputs`, and returns a `LinkScorer`
    WALKS = ("bitrawl.walks", "walk")  # is called with a `Neighbourhood`, and returns a `Plan`
    EXPORTERS = ("bitrawl.exporters", "format")  # a `CorpusFormat`
    VERBS = ("bitrawl.verbs", "verb")  # a `Verb`


class Verb(NamedTuple):
    """A verb of the command line. What does it is loaded when it is used."""

    function: str  # "module:name": a function or a `typer.Typer`
    help: str  # the first line of its help, for the list of verbs


def loaded(reference: str) -> Any:
    """Something of bitrawl, or of a package, that a table names as "module:name"."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


@cache
def added(group: EntryGroup) -> "dict[str, tuple[EntryPoint, ...]]":
    """What the installed packages add, by name; looked up once per process."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - 15 ms, for names that are not ours

    found = sorted(entry_points(group=group), key=lambda entry: entry.name)
    return {entry.name: tuple(other for other in found if other.name == entry.name) for entry in found}


def is_installed() -> bool:
    """False where bitrawl runs from its source alone, or has more than when it was installed: parts of it are not found then."""
    return "simulate" in added(EntryGroup.VERBS)


def package_of(group: EntryGroup, name: str) -> str:
    """The package that adds it; empty for what is ours."""
    return next(iter(_strangers(group, name)), "")


def check_one(group: EntryGroup, name: str, own: Container[str]) -> None:
    """Raise `ConfigError` if more than one has the name: two packages, or one and bitrawl, which has those of `own`."""
    packages = _strangers(group, name)
    if packages and name in own:
        raise ConfigError(
            f"the package {packages[0]} adds a {group.noun} {name!r}, but bitrawl has one of that name;"
            f" run: pip uninstall {packages[0]}"
        )
    if len(packages) > 1:
        raise ConfigError(f"the packages {' and '.join(packages)} add a {group.noun} {name!r} each; uninstall one")


def load(group: EntryGroup, name: str) -> Any:
    """What the package adds. Raises `ConfigError` if that cannot be had."""
    if name not in added(group):
        raise ConfigError(
            f"nothing that is installed adds the {group.noun} {name!r}. If it is one of bitrawl's own, install bitrawl again"
            " (in a clone: pip install --editable .)"
        )
    try:
        return added(group)[name][0].load()
    except Exception as error:
        raise fault(group, name, f"cannot be loaded: {type(error).__name__}: {error}") from error


def blamed(group: EntryGroup, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """The same function of another package; what it raises is a `ConfigError` that names the package."""

    def called(*given: Any, **named: Any) -> Any:
        try:
            return call(*given, **named)
        except (BitrawlError, MemoryError):  # a full disk is no fault of the package
            raise
        except Exception as error:
            raise fault(group, name, f"fails: {type(error).__name__}: {error}") from error

    return called


def fault(group: EntryGroup, name: str, what: str) -> ConfigError:
    """Names the package and the way out."""
    package = package_of(group, name)
    return ConfigError(
        f"the {group.noun} {name!r} of the package {package} {what}; repair the package, or run: pip uninstall {package}"
    )


def _strangers(group: EntryGroup, name: str) -> list[str]:
    packages = [entry.dist.name if entry.dist else "?" for entry in added(group).get(name, ())]
    return [package for package in packages if package != OURS]
