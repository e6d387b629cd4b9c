"""A sentence for the user of the web app, apart from what is filled in, so that it can be translated."""

from typing import NamedTuple


class Said(NamedTuple):
    """`text` is the message in the catalogue, with names in braces; `values` are data, and never translated."""

    text: str
    values: dict[str, str] = {}  # noqa: RUF012 - never changed

    def __str__(self) -> str:
        return self.text.format_map(self.values)


def said(text: str, **values: object) -> Said:
    """The sentence with these values. A catalogue's tool finds the text in calls of this function."""
    return Said(text, {name: str(value) for name, value in values.items()})


def quoted(text: str) -> Said:
    """What somebody else said, as it is: the ending of a job, the message of an error. It may have braces."""
    return Said("{said}", {"said": text}) if text else Said("")
