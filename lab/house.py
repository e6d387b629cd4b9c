"""The size of the house: `python -m lab.house` counts it, and `make check` runs it. Exit 1 if a bound is broken.

The bounds are a ratchet: they stand in `house.toml`, and only fall. `--lower` writes down what is better now; nothing
raises one, so a change pays for what it adds. A code line is a line that is not blank, not a comment and not part of a
docstring. `--list` names the offenders.
"""

import argparse
import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parent.parent / "src" / "bitrawl"
BOUNDS = Path(__file__).parent / "house.toml"
SMALL, LONG_FILE, MOST_PARAMETERS = 60, 600, 8
MOST_IMPORTS, MOST_FIELDS = 25, 8
DOORS = {"job": 40}  # names at the door of a room; others have at most `MOST_NAMES`
MOST_NAMES = 25
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Module(NamedTuple):
    name: str
    path: Path
    tree: ast.Module
    code: set[int]  # numbers of code lines


class Figure(NamedTuple):
    what: str
    value: int
    offenders: tuple[str, ...] = ()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name what breaks each bound")
    parser.add_argument(
        "--lower", action="store_true", help="write lower bounds where the house is better than they ask"
    )
    asked = parser.parse_args()
    figures, bounds = list(measure(modules(SOURCE))), tomllib.loads(BOUNDS.read_text("utf-8"))
    if asked.lower:
        lower(figures, bounds)
    for figure in figures:
        bound = bounds[figure.what]
        verdict = "" if figure.value <= bound else "  <-- too many"
        print(f"{figure.what:45} {figure.value:7,}  (at most {bound:,}){verdict}")
        if asked.list or verdict:
            print("\n".join(f"    {offender}" for offender in figure.offenders))
    if broken := any(figure.value > bounds[figure.what] for figure in figures):
        print("The house only gets smaller: take away as much as you add. Bounds are in lab/house.toml")
    return int(broken)


def lower(figures: list[Figure], bounds: dict[str, int]) -> None:
    text = BOUNDS.read_text("utf-8")
    for figure in figures:
        if figure.value < bounds[figure.what]:
            bounds[figure.what] = figure.value
            text = re.sub(rf'^("{re.escape(figure.what)}" = )\d+', rf"\g<1>{figure.value}", text, flags=re.MULTILINE)
    BOUNDS.write_text(text, "utf-8")


def modules(source: Path) -> list[Module]:
    paths = sorted(path for path in source.rglob("*.py") if "__pycache__" not in path.parts)
    return [_module(path, source) for path in paths]


def measure(house: list[Module]) -> Iterator[Figure]:
    yield Figure("modules", len(house))
    yield Figure("code lines", sum(len(module.code) for module in house))
    for room, lines in sorted(_rooms(house).items()):
        yield Figure(f"code lines of {room}", lines)
    lengths = sorted(_functions(house), reverse=True)
    # The function that 99 of 100 are not longer than.
    yield Figure(
        "lines of a function, 99 of 100", lengths[len(lengths) // 100][0], tuple(name for _, name in lengths[:40])
    )
    yield _named(
        f"files over {LONG_FILE} lines",
        (f"{module.name}: {_lines(module)}" for module in house if _lines(module) > LONG_FILE),
    )
    yield _named(f"functions with over {MOST_PARAMETERS} parameters", _many_parameters(house))
    yield _named("import cycles", (" ".join(sorted(cycle)) for cycle in _cycles(_imports(house))))
    yield _named(
        "class names defined more than once",
        (f"{name}: {', '.join(homes)}" for name, homes in sorted(_classes(house).items()) if len(homes) > 1),
    )
    yield _named(
        f"files under {SMALL} code lines",
        (f"{module.name}: {len(module.code)}" for module in house if len(module.code) < SMALL),
    )
    leaves = Counter(module.name.rpartition(".")[2] for module in house if module.path.name != "__init__.py")
    yield _named("module names used more than once", (name for name, times in leaves.items() if times > 1))
    fans = ((len(_modules_imported(module, house)), module.name) for module in house)
    yield _named(
        f"modules that import over {MOST_IMPORTS}",
        (f"{name}: {count}" for count, name in sorted(fans, reverse=True) if count > MOST_IMPORTS),
    )
    yield _named(f"classes with over {MOST_FIELDS} fields of their own", _many_fields(house))
    classes = sum(isinstance(node, ast.ClassDef) for module in house for node in ast.walk(module.tree))
    yield Figure("classes in 1,000 code lines", round(1000 * classes / sum(len(module.code) for module in house)))
    wide = ((len(door_names(module)), module.name) for module in house)
    yield _named(
        "rooms with too wide a door", (f"{name}: {count}" for count, name in wide if count > _most_names(name))
    )
    yield _named("names taken past a door", _past_doors(house))


def _named(what: str, offenders: Iterable[str]) -> Figure:
    listed = tuple(offenders)
    return Figure(what, len(listed), listed)


def door_names(module: Module) -> list[str]:
    """What a room shows others: the names that its `__init__` imports from its own modules."""
    if module.path.name != "__init__.py" or module.name == "bitrawl":
        return []
    shown = [node for branch in module.tree.body if isinstance(branch, ast.If) for node in branch.body]
    imports = [node for node in shown if isinstance(node, ast.ImportFrom) and node.module]
    return [alias.name for node in imports if str(node.module).startswith(f"{module.name}.") for alias in node.names]


def _most_names(room: str) -> int:
    return DOORS.get(room.removeprefix("bitrawl."), MOST_NAMES)


def _room(name: str) -> str:
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else ""


def _rooms(house: list[Module]) -> Counter[str]:
    folders = {_room(module.name) for module in house if module.path.name == "__init__.py"}
    lines: Counter[str] = Counter()
    for module in house:
        room = _room(module.name)
        lines[room if room and room in folders else "the top"] += len(module.code)
    return lines


def _past_doors(house: list[Module]) -> Iterator[str]:
    """Imports of a module of another room, where that room has a door."""
    doors = {module.name for module in house if door_names(module)}
    for module in house:
        for target in sorted(_modules_imported(module, house)):
            room = ".".join(target.split(".")[:2])
            if room in doors and target != room and _room(module.name) != _room(target):
                yield f"{module.name} -> {target}"


def _modules_imported(module: Module, house: list[Module]) -> set[str]:
    """Also those that are imported inside functions."""
    names, targets = {other.name for other in house}, set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            targets.update(name if name in names else node.module for name in full)
        elif isinstance(node, ast.Import):
            targets.update(alias.name for alias in node.names)
    return (targets & names) - {module.name}


def _many_fields(house: list[Module]) -> Iterator[str]:
    """What a constructor assigns to `self`: collaborators and state. Values, which only have fields, are left out."""
    for module in house:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                fields = {
                    target.attr
                    for method in node.body
                    if isinstance(method, ast.FunctionDef) and method.name == "__init__"
                    for target in ast.walk(method)
                    if isinstance(target, ast.Attribute)
                    and isinstance(target.ctx, ast.Store)
                    and isinstance(target.value, ast.Name)
                    and target.value.id == "self"
                }
                if len(fields) > MOST_FIELDS:
                    yield f"{module.name}.{node.name}: {len(fields)}"


def _module(path: Path, source: Path) -> Module:
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    parts = path.relative_to(source.parent).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name, path, tree, _code_lines(text) - _docstring_lines(tree))


def _code_lines(text: str) -> set[int]:
    rows = text.splitlines()
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    spans = (range(token.start[0], token.end[0] + 1) for token in tokens if token.type not in _LAYOUT)
    return {line for span in spans for line in span if rows[line - 1].strip()}


def _docstring_lines(tree: ast.Module) -> set[int]:
    documented = (
        node for node in ast.walk(tree) if isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None
    )
    return {line for node in documented for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)}


def _lines(module: Module) -> int:
    return len(module.path.read_text("utf-8").splitlines())


def _all_functions(house: list[Module]) -> Iterator[tuple[Module, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for module in house:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield module, node


def _functions(house: list[Module]) -> Iterator[tuple[int, str]]:
    for module, node in _all_functions(house):
        yield (node.end_lineno or 0) - node.lineno + 1, f"{module.name}.{node.name}"


def _many_parameters(house: list[Module]) -> Iterator[str]:
    """The command-line layer is left out: its parameters are flags."""
    for module, node in _all_functions(house):
        names = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        count = sum(1 for argument in names if argument.arg not in {"self", "cls"})
        if count > MOST_PARAMETERS and not module.name.startswith(("bitrawl.cli", "bitrawl.papers.simulate")):
            yield f"{module.name}.{node.name}: {count}"


def _classes(house: list[Module]) -> dict[str, list[str]]:
    homes = defaultdict(list)
    for module in house:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(module.name)
    return homes


def _imports(house: list[Module]) -> dict[str, set[str]]:
    """Which modules each module imports when it is loaded. Imports inside functions do not count."""
    names = {module.name for module in house}
    graph: dict[str, set[str]] = {}
    for module in house:
        targets = set()
        for node in module.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module:
                targets.update(f"{node.module}.{alias.name}" for alias in node.names)
                targets.add(node.module)
            elif isinstance(node, ast.Import):
                targets.update(alias.name for alias in node.names)
        graph[module.name] = (targets & names) - {module.name}
    return graph


def _cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Strongly connected parts of more than one module."""
    reach = {name: _reachable(graph, name) for name in graph}
    cycles: list[set[str]] = []
    for name, targets in reach.items():
        part = {other for other in targets if name in reach[other]}
        if part and part not in cycles:
            cycles.append(part)
    return cycles


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    open_names = list(graph[start])
    while open_names:
        name = open_names.pop()
        if name not in reached:
            reached.add(name)
            open_names.extend(graph[name])
    return reached


if __name__ == "__main__":
    sys.exit(main())
