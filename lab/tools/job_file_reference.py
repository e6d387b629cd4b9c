"""Bring the lists of docs/reference/job-file.md up to date: keys, types and defaults as the program has them.

What a key means is written by hand after the colon and kept. A key that is new there gets the comment beside it in
config/schema.py, to be edited. A key that is gone loses its line.

python -m lab.tools.job_file_reference
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect as schema

from bitrawl.config import Job

PAGE = Path(__file__).parents[2] / "docs/reference/job-file.md"
_TABLE = re.compile(r"(<!-- keys: (\w+) -->\n).*?(<!-- end of keys -->)", re.DOTALL)
_ROW = re.compile(r"^- `([\w.]+)` \(.*?\): (.*)$", re.MULTILINE)


def rendered(page: str) -> str:
    """The page with its tables as they should be; the rest untouched."""
    meanings = dict(_ROW.findall(page))
    tables = dict(_sections())
    told = set(re.findall(r"<!-- keys: (\w+) -->", page))
    if told != set(tables):
        raise SystemExit(
            f"job-file.md lacks a table for {set(tables) - told or 'nothing'}, and has {told - set(tables)}"
        )
    return _TABLE.sub(lambda found: found[1] + _table(found[2], tables[found[2]], meanings) + found[3], page)


def _sections() -> Iterator[tuple[str, type]]:
    """`job` for the keys outside of any table, then each table by its name."""
    yield "job", Job
    for field in msgspec.structs.fields(Job):
        if _is_section(field.type):
            yield field.name, field.type


def _is_section(kind: Any) -> bool:
    return hasattr(kind, "__struct_fields__")


def _table(name: str, section: type, meanings: dict[str, str]) -> str:
    rows = []
    types = {field.name: field.type for field in schema.type_info(section).fields}  # type: ignore[attr-defined]
    comments = _comments(section)
    for field in msgspec.structs.fields(section):
        if _is_section(field.type):
            continue
        key = field.name if name == "job" else f"{name}.{field.name}"
        meaning = meanings.get(key) or comments.get(field.name, "")
        rows.append(f"- `{key}` ({_typed(types[field.name])}{_default(field)}): {meaning}")
    return "\n".join(rows) + "\n"


def _comments(section: type) -> dict[str, str]:
    return dict(re.findall(r"^    (\w+): .*?  # (.*)$", inspect.getsource(section), re.MULTILINE))


def _default(field: Any) -> str:
    value = field.default if field.default is not msgspec.NODEFAULT else None
    if field.default_factory is not msgspec.NODEFAULT:
        value = field.default_factory()
    value = getattr(value, "value", value)
    if isinstance(value, bool | int | float):
        return f", default `{str(value).lower()}`"
    return f", default `{msgspec.json.encode(value).decode()}`" if value else ""


def _typed(kind: schema.Type) -> str:
    if isinstance(kind, schema.Metadata):
        names = (kind.extra or {}).get("names")
        return "one of " + ", ".join(f"`{name}`" for name in names()) if names else _typed(kind.type)
    if isinstance(kind, schema.UnionType):
        kind = next(one for one in kind.types if not isinstance(one, schema.NoneType))
    if isinstance(kind, schema.EnumType):
        return "one of " + ", ".join(f"`{choice.value}`" for choice in kind.cls)
    if isinstance(kind, schema.ListType | schema.VarTupleType | schema.SetType | schema.FrozenSetType):
        return f"list of {_many(kind.item_type)}"
    if isinstance(kind, schema.IntType | schema.FloatType):
        return ("integer" if isinstance(kind, schema.IntType) else "number") + _bounds(kind)
    plain = {schema.BoolType: "boolean", schema.DictType: "table of strings"}
    return plain.get(type(kind), "string")


def _many(item: schema.Type) -> str:
    if isinstance(item, schema.ListType):
        return f"lists of {_many(item.item_type)}"
    if isinstance(item, schema.Metadata) and "names" in (item.extra or {}):
        return "names: " + ", ".join(f"`{name}`" for name in item.extra["names"]())
    return "strings"


def _bounds(kind: schema.IntType | schema.FloatType) -> str:
    if kind.ge is not None and kind.le is not None:
        return f", {kind.ge} to {kind.le}"
    if kind.ge is not None:
        return f" ≥ {kind.ge}"
    return f" > {kind.gt}" if kind.gt is not None else ""


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text("utf-8")), "utf-8")
