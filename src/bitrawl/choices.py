"""What kinds of values a setting takes: bounded numbers, names of files, and names that other packages add to by an entry point.

A strategy or a format is named as "module:name", as an entry point names it, and loaded when it is first used. A package that
adds one is looked up only where its name may be meant, and what is wrong with it is told there.
"""

from collections.abc import Callable, Collection, Iterable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from bitrawl.errors import BitrawlError, ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

MEGABYTE = 1_000_000  # bytes, as settings and people count them
Seconds = Annotated[float, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]
# What names a file: it is kept as a whole path, and published as a bare name.
FilePath = Annotated[str, msgspec.Meta(extra={"path": "file"})]
FileOrUrl = Annotated[str, msgspec.Meta(extra={"path": "file or URL"})]
FolderOrModel = Annotated[str, msgspec.Meta(extra={"path": "folder or model"})]
FileOfLanguage = Annotated[str, msgspec.Meta(extra={"path": "file of a language"})]


class Added(msgspec.Struct, frozen=True):
    """A set of names that other packages add to. Its own names come first, and nobody else may have them."""

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
            if name not in self.names():
                raise ConfigError(f"there is no {self.noun} {name!r}; the {self.plural} are {', '.join(self.names())}")

    def check_one(self, name: str) -> None:
        """Raise `ConfigError` if more than one has the name, or none."""
        self.check_known([name])
        packages = [entry.dist.name if entry.dist else "?" for entry in _added(self.group).get(name, ())]
        if packages and name in self.own:
            raise ConfigError(
                f"the package {packages[0]} adds a {self.noun} {name!r}, but bitrawl has one of that name;"
                f" run: pip uninstall {packages[0]}"
            )
        if len(packages) > 1:
            raise ConfigError(f"the packages {' and '.join(packages)} add a {self.noun} {name!r} each; uninstall one")

    def package_of(self, name: str) -> str:
        """The package that adds it; empty for what is ours."""
        return next((entry.dist.name for entry in _added(self.group).get(name, ()) if entry.dist is not None), "")

    def loaded(self, name: str) -> Any:
        """What a package adds under that name; raises `ConfigError`."""
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
    """Something of bitrawl that a table names."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


@cache
def _added(group: str) -> "dict[str, tuple[EntryPoint, ...]]":
    """What the installed packages add, by name; looked up once per process."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - 15 ms, for names that are not ours

    found = sorted(entry_points(group=group), key=lambda entry: entry.name)
    return {entry.name: tuple(other for other in found if other.name == entry.name) for entry in found}
