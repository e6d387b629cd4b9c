"""A sentence for the user of the web app, apart from what is filled in, so that it can be translated."""

from typing import NamedTuple

from starlette.exceptions import HTTPException


class Said(NamedTuple):
    """`text` is the message in the catalogue, with names in braces; `values` are data, and never translated."""

    text: str
    values: dict[str, str] = {}  # noqa: RUF012 - never changed

    def __str__(self) -> str:
        return self.text.format_map(self.values)

    @property
    def is_quoted(self) -> bool:
        """Whether the program said it, not the app: it is English in every language of the interface."""
        return self.text == "{said}"


def said(text: str, **values: object) -> Said:
    """The sentence with these values. A catalogue's tool finds the text in calls of this function."""
    return Said(text, {name: str(value) for name, value in values.items()})


def quoted(text: str) -> Said:
    """What somebody else said, as it is: the ending of a job, the message of an error. It may have braces."""
    return Said("{said}", {"said": text}) if text else Said("")


def error_said(error: Exception) -> Said:
    """What an error says: a sentence of the app, or one of the program."""
    first = error.args[0] if error.args else ""
    return first if isinstance(first, Said) else quoted(str(error))


class RequestError(HTTPException):
    """A request that is refused, with a sentence that can be translated."""

    def __init__(self, status: int, told: Said) -> None:
        super().__init__(status, str(told))
        self.said = told
