"""What packages add to bitrawl by entry points: strategies, formats, verbs. Ours in `papers` come in like that, too.

What is added is named as "module:name", and loaded when it is first used. A package is looked up only where its name may be
meant, and what is wrong with it is told there.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from bitrawl.errors import BitrawlError, ConfigError
from bitrawl.version import install_command

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@contextmanager
def extra(name: str, need: str, otherwise: str = "") -> Iterator[None]:
    """For imports of what an extra installs. Raises `ConfigError`, which says who needs what, and what to type."""
    try:
        yield
    except ImportError as error:
        raise ConfigError(f"{need}. Run: {install_command(name)}{otherwise}") from error


class Verb(NamedTuple):
    """A verb of the command line. What does it is loaded when it is used."""

    function: str  # "module:name": a function or a `typer.Typer`
    help: str  # the first line of its help, for the list of verbs
    panel: str = "From other packages"  # of that list


class Added(NamedTuple):
    """A set of names that packages add to, by entry points. Its own names come first, and nobody else may have them."""

    group: str  # of entry points
    noun: str
    plural: str
    own: Collection[str]

    def names(self) -> list[str]:
        """Ours, then those of other packages, which are not loaded for it."""
        return list(dict.fromkeys([*map(str, self.own), *_added(self.group)]))

    def others(self) -> list[str]:
        return [name for name in self.names() if name not in self.own]

    def check_known(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` for a name that nobody has. Nothing is loaded, so that a job can be read without its packages."""
        for name in names:
            if name not in self.own and name not in self.names():
                raise ConfigError(f"there is no {self.noun} {name!r}; the {self.plural} are {', '.join(self.names())}")

    def check_one(self, name: str) -> None:
        """Raise `ConfigError` if more than one has the name, or none."""
        self.check_known([name])
        packages = self._packages(name)
        if packages and name in self.own:
            raise ConfigError(
                f"the package {packages[0]} adds a {self.noun} {name!r}, but bitrawl has one of that name;"
                f" run: pip uninstall {packages[0]}"
            )
        if len(packages) > 1:
            raise ConfigError(f"the packages {' and '.join(packages)} add a {self.noun} {name!r} each; uninstall one")

    def package_of(self, name: str) -> str:
        """The package that adds it; empty for what is ours."""
        return next(iter(self._packages(name)), "")

    def _packages(self, name: str) -> list[str]:
        """Other than bitrawl."""
        packages = [entry.dist.name if entry.dist else "?" for entry in _added(self.group).get(name, ())]
        return [package for package in packages if package != "bitrawl"]

    def loaded(self, name: str) -> Any:
        """What a package adds under that name; raises `ConfigError`."""
        if name not in _added(self.group):
            raise ConfigError(
                f"nothing that is installed adds the {self.noun} {name!r}. If it is one of bitrawl's own, install bitrawl again"
                " (in a clone: pip install --editable .)"
            )
        try:
            return _added(self.group)[name][0].load()
        except Exception as error:
            raise self.fault(name, f"cannot be loaded: {type(error).__name__}: {error}") from error

    def blamed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same function of another package; what it raises is a `ConfigError` that names the package."""

        def called(*given: Any, **named: Any) -> Any:
            try:
                return call(*given, **named)
            except (BitrawlError, MemoryError):  # a full disk is no fault of the package
                raise
            except Exception as error:
                raise self.fault(name, f"fails: {type(error).__name__}: {error}") from error

        return called

    def fault(self, name: str, what: str) -> ConfigError:
        package = self.package_of(name)
        return ConfigError(
            f"the {self.noun} {name!r} of the package {package} {what}; repair the package, or run: pip uninstall {package}"
        )


def loaded(reference: str) -> Any:
    """Something of bitrawl, or of a package, that a table names as "module:name"."""
    module, _, name = reference.partition(":")
    return attrgetter(name)(import_module(module))


@cache
def _added(group: str) -> "dict[str, tuple[EntryPoint, ...]]":
    """What the installed packages add, by name; looked up once per process."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - 15 ms, for names that are not ours

    found = sorted(entry_points(group=group), key=lambda entry: entry.name)
    return {entry.name: tuple(other for other in found if other.name == entry.name) for entry in found}
