"""HTML by one engine: Jinja2, which escapes every value, because text from the web is hostile."""

import re
from functools import lru_cache
from importlib import resources
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from bitrawl.corpus import without_files
from bitrawl.endings import left_message
from bitrawl.languages import language_name
from bitrawl.message import enumerated
from bitrawl.show.wording import (
    REFUSALS,
    SKIPS,
    answered,
    counted,
    duration,
    language_pair,
    method_name,
    number,
    share,
    shortened,
    size,
    with_code,
)
from bitrawl.version import PROJECT_PAGE, __version__

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

# Control characters are errors in HTML, and half of a surrogate pair cannot even be written. A carriage return is neither:
# browsers send the lines of a text area with one, and get them back when the form has a mistake.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_WORDS = (
    answered, counted, duration, enumerated, language_name, language_pair, left_message, method_name, number,
    share, size, without_files,
)  # fmt: skip


def document(template: str, **values: Any) -> str:
    """A report: one file that opens offline, runs no script and loads nothing."""
    return _reports().get_template(template).render(values) + "\n"


def drawing(macro: str, *values: Any) -> "Markup":
    """What a macro of plots.html draws."""
    drawn: Markup = getattr(_reports().get_template("plots.html").module, macro)(*values)
    return drawn


def style_sheet() -> str:
    """The style of the reports, with which that of the web app begins."""
    return (resources.files("bitrawl.show") / "templates" / "report.css").read_text("utf-8")


def new_environment(package: str) -> "Environment":
    """For the templates of that package. A name that has no value is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 (50 ms, only if something is shown)

    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_writable,
    )


def _writable(value: Any) -> Any:
    """What HTML cannot hold is replaced. Jinja2 escapes the rest."""
    return _UNWRITABLE.sub("\ufffd", value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@lru_cache(maxsize=1)
def _reports() -> "Environment":
    environment = new_environment("bitrawl.show")
    environment.globals |= {word.__name__: word for word in _WORDS}
    environment.globals |= {"version": __version__, "project_page": PROJECT_PAGE}
    environment.globals |= {"skip_meanings": SKIPS, "refusal_meanings": REFUSALS}
    environment.filters |= {"shortened": shortened, "short": short, "with_code": with_code}
    environment.filters["file_name"] = lambda path: PurePath(path).name
    return environment


def short(value: float) -> str:
    """A coordinate. A tenth of a pixel is exact enough."""
    return f"{value:.1f}".removesuffix(".0")
