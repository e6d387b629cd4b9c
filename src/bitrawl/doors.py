"""How a room opens its door: what it shows others stands in its `__init__`, and is loaded when it is first used."""

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def door(room: str) -> Callable[[str], Any]:
    """The `__getattr__` of a room. Its names stand once, in the imports of its `__init__` under `if TYPE_CHECKING`.

    So type checkers, import-linter and readers see plain imports, and a command loads only what it uses.
    """

    @cache
    def homes() -> dict[str, str]:
        source = sys.modules[room].__loader__.get_source(room)  # type: ignore[union-attr]
        imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
        return {alias.name: str(node.module) for node in imports for alias in node.names}

    def load(name: str) -> Any:
        home = homes().get(name)
        if home is None:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        thing = getattr(import_module(home), name)
        setattr(sys.modules[room], name, thing)
        return thing

    return load
