"""The size of the house: `python -m lab.house` counts what issue *Half the concepts* bounded. Exit 1 if a bound is broken.

A code line is a line that is not blank, not a comment and not part of a docstring. `--list` names the offenders.
"""

import argparse
import ast
import io
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parent.parent / "src" / "bitrawl"
SMALL, LONG_FILE, MOST_PARAMETERS = 60, 600, 8
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
    most: int
    offenders: list[str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name what breaks each bound")
    listed = parser.parse_args().list
    figures = list(measure(modules(SOURCE)))
    for figure in figures:
        verdict = "" if figure.value <= figure.most else "  <-- too many"
        print(f"{figure.what:45} {figure.value:7,}  (at most {figure.most:,}){verdict}")
        if listed and verdict:
            print("\n".join(f"    {offender}" for offender in figure.offenders))
    return int(any(figure.value > figure.most for figure in figures))


def modules(source: Path) -> list[Module]:
    paths = sorted(path for path in source.rglob("*.py") if "__pycache__" not in path.parts)
    return [_module(path, source) for path in paths]


def measure(house: list[Module]) -> Iterator[Figure]:
    yield Figure("modules", len(house), 260, [])
    yield Figure("code lines", sum(len(module.code) for module in house), 38_000, [])
    lengths = sorted(_functions(house), reverse=True)
    # The function that 99 of 100 are not longer than.
    yield Figure(
        "lines of a function, 99 of 100", lengths[len(lengths) // 100][0], 30, [name for _, name in lengths[:40]]
    )
    long = [f"{module.name}: {_lines(module)}" for module in house if _lines(module) > LONG_FILE]
    yield Figure(f"files over {LONG_FILE} lines", len(long), 0, long)
    greedy = list(_many_parameters(house))
    yield Figure(f"functions with over {MOST_PARAMETERS} parameters", len(greedy), 0, greedy)
    cycles = [" ".join(sorted(cycle)) for cycle in _cycles(_imports(house))]
    yield Figure("import cycles", len(cycles), 0, cycles)
    twice = [f"{name}: {', '.join(homes)}" for name, homes in sorted(_classes(house).items()) if len(homes) > 1]
    yield Figure("class names defined more than once", len(twice), 10, twice)
    small = [f"{module.name}: {len(module.code)}" for module in house if len(module.code) < SMALL]
    yield Figure(f"files under {SMALL} code lines", len(small), 60, small)
    leaves = Counter(module.name.rpartition(".")[2] for module in house if module.path.name != "__init__.py")
    same = [name for name, times in leaves.items() if times > 1]
    yield Figure("module names used more than once", len(same), 10, same)


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
        if count > MOST_PARAMETERS and not module.name.startswith("bitrawl.cli"):
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
