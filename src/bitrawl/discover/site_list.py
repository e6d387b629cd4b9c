"""The sites that were judged, as files: a line of JSON each, a table, and a list of seeds for mining."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from bitrawl.discover.verdict import Answer, SiteVerdict
from bitrawl.text.cells import cell
from bitrawl.url import Url

_ORDER = {Answer.BILINGUAL: 0, Answer.THIN: 1, Answer.UNKNOWN: 2, Answer.NO: 3}
_json = msgspec.json.Encoder(enc_hook=str)
_from_json = msgspec.json.Decoder(SiteVerdict, dec_hook=lambda _kind, text: Url.known(text))


def ranked(verdicts: Iterable[SiteVerdict]) -> list[SiteVerdict]:
    """The bilingual sites first, the surest and the largest of them before the others."""
    return sorted(verdicts, key=lambda one: (_ORDER[one.verdict], -one.probability, -one.pages, one.site))


def json_lines(verdicts: Sequence[SiteVerdict]) -> bytes:
    """Each line has all fields, also those that say nothing."""
    rows = ({name: getattr(one, name) for name in SiteVerdict.__struct_fields__} for one in verdicts)
    return b"".join(_json.encode(row) + b"\n" for row in rows)


def from_json_lines(content: bytes) -> list[SiteVerdict]:
    """What `json_lines` wrote."""
    return [_from_json.decode(line) for line in content.splitlines()]


def table(verdicts: Sequence[SiteVerdict]) -> str:
    """Tab-separated, with a header; several values of a column have spaces between them."""
    names = SiteVerdict.__struct_fields__
    rows = ("\t".join(_cell(getattr(one, name)) for name in names) for one in verdicts)
    return "".join(f"{row}\n" for row in ("\t".join(names), *rows))


def seed_list(verdicts: Sequence[SiteVerdict]) -> str:
    """For `bitrawl mine --sites`: the pages that were compared, so that mining begins in both languages."""
    return "".join(_seed_lines(one) for one in verdicts if one.verdict is Answer.BILINGUAL)


def seeds_of(verdict: SiteVerdict) -> list[Url]:
    """Where mining the site begins."""
    return [url for url in (verdict.url_a, verdict.url_b) if url] or [Url.known(f"https://{verdict.site}/")]


def _seed_lines(one: SiteVerdict) -> str:
    said = f"# {one.site}: {', '.join(one.languages)}; probability {one.probability:.2f}"
    return "".join(f"{line}\n" for line in (said, *seeds_of(one)))


def _cell(value: object) -> str:
    return cell(" ".join(" ".join(_parts(value)).split()))  # no tab and no line break gets into a table


def _parts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{name}={number:.3g}" for name, number in value.items())
    elif isinstance(value, tuple):
        yield from map(str, value)
    elif isinstance(value, float):
        yield f"{value:.3f}"
    elif value is not None:
        yield str(value)
