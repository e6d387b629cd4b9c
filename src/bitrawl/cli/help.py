"""What the help of a command shows beside its flags: a word for the value, and nothing beside a flag without one."""

from typing import Any

from typer.core import TyperCommand, TyperGroup

_WORDS = {"int": "N", "float": "NUMBER", "Path": "PATH", "str": "TEXT"}  # typer's own are <int>, <list[Path]>, <bool>


class HelpfulCommand(TyperCommand):
    """A command whose help is free of Python's types."""

    def get_params(self, ctx: Any) -> Any:
        return worded(super().get_params(ctx))


class HelpfulGroup(TyperGroup):
    """A group of commands whose help is free of Python's types."""

    def get_params(self, ctx: Any) -> Any:
        return worded(super().get_params(ctx))


def worded(parameters: Any) -> Any:
    """The same parameters, each with the word that stands for its value; those that have one keep it."""
    for one in parameters:
        if one.param_type_name == "argument":
            one.display_type_rich = lambda ctx: None  # noqa: ARG005 - its name says what it is
        elif one.metavar is None:
            one.metavar = "" if one.is_flag else _word(one)
    return parameters


def _word(option: Any) -> str | None:
    """None where typer lists the choices."""
    kinds = str(getattr(getattr(option, "type_descriptor", None), "annotation", None))
    return next((word for kind, word in _WORDS.items() if kind in kinds), None)
