"""XCES as ILSP-FC writes it: a cesDoc for each page, a cesAlign for each page pair."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

from bitrawl.corpus.export import CorpusHeader, compressed, paragraph_id
from bitrawl.files import replacing, replacing_folder
from bitrawl.languages import asked_language, same_language
from bitrawl.model import UNDETERMINED, Language, Metadata, Method, Page, PagePair, Paragraph, ParagraphKind, Relevance
from bitrawl.text.words import words, xml
from bitrawl.url import Url
from bitrawl.version import __version__

MIN_WORDS = 3
"""A shorter paragraph is "ooi-length" in ILSP-FC: the default of its -len."""

_SURELY_LONG = 60  # characters: counting words costs more than everything else on a page
_DIGEST_BYTES = 6  # of a URL in a file name: the probability that any two of a million pages share one is 1 in 560

_NAMESPACES = (
    'xmlns="http://www.xces.org/schema/2003" xmlns:xlink="http://www.w3.org/1999/xlink"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
)


@contextmanager
def xces(folder: Path, header: CorpusHeader, *, compress: bool = False) -> Iterator[Callable[[Page | PagePair], None]]:
    """The folder `xces/en-fr`, replaced as a whole. Pages and pairs may come in any order.

    A pair names the files of its pages by its own languages, so the pages must have the same languages.
    """
    with replacing_folder(folder / "xces" / header.name) as draft:

        def write(item: Page | PagePair) -> None:
            if isinstance(item, PagePair):
                name, content = alignment_name(item, header), _alignment(item, header, compress=compress)
            else:
                name, content = document_name(item.url, item.language, header), _document(item, header)
            with replacing(draft / compressed(name, compress=compress), compress=compress) as file:
                file.write(content.encode())

        yield write


def document_name(url: Url, language: Language, header: CorpusHeader) -> str:
    """`en-3f2a9c0d1e5b.xml`. A page has the same name in every export, and no part of a URL gets into a path."""
    return f"{_stem(url, language, header)}.xml"


def alignment_name(pair: PagePair, header: CorpusHeader) -> str:
    """`en-3f2a9c0d1e5b_fr-0c77d02b9a41_a.xml`, ending with the letter of the most reliable method; a partial one with `_a-partial`."""
    method = next((method for method in Method if pair.evidence.get(method)), "x")
    return f"{_stem(pair.url_a, pair.lang_a, header)}_{_stem(pair.url_b, pair.lang_b, header)}_{method}{'-partial' if pair.partial else ''}.xml"


def crawl_info(paragraph: Paragraph, page: Page) -> str:
    """Why a paragraph is not clean text, in ILSP-FC's words; empty if it is."""
    if paragraph.boilerplate:
        return "boilerplate"
    if len(paragraph.text) < _SURELY_LONG and len(words(paragraph.text, page.language)) < MIN_WORDS:
        return "ooi-length"
    if paragraph.language != UNDETERMINED and not same_language(paragraph.language, page.language):
        return "ooi-lang"
    return ""


def _stem(url: Url, language: Language, header: CorpusHeader) -> str:
    """Begins with the requested language: a pair in sr finds a page in sr-Latn."""
    wanted = asked_language(language, header.languages) or language
    return f"{wanted}-{blake2b(url.encode('utf-8', 'surrogatepass'), digest_size=_DIGEST_BYTES).hexdigest()}"


def _document(page: Page, header: CorpusHeader) -> str:
    body = "".join(_paragraph(number, paragraph, page) for number, paragraph in enumerate(page.paragraphs))
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<cesDoc version="0.4" {_NAMESPACES}>\n'
        f'<cesHeader version="0.4">\n{_file_description(page, header)}{_profile(page)}</cesHeader>\n'
        f"<text>\n<body>\n{body}</body>\n</text>\n</cesDoc>\n"
    )


def _file_description(page: Page, header: CorpusHeader) -> str:
    made = datetime.fromtimestamp(header.at, UTC).date().isoformat()
    title, metadata = xml(page.title), page.metadata
    return (
        f"<fileDesc>\n<titleStmt>\n<title>{title}</title>\n<respStmt>\n<resp>\n<type>Crawling and normalization</type>\n"
        f"<name>bitrawl {xml(__version__)}</name>\n</resp>\n</respStmt>\n</titleStmt>\n"
        f'<publicationStmt>\n<distributor/>\n<eAddress type="web"/>\n<availability>{_licence(metadata)}</availability>\n'
        f"<pubDate>{made}</pubDate>\n</publicationStmt>\n"
        f"<sourceDesc>\n<biblStruct>\n<monogr>\n<title>{title}</title>\n<author>{xml(metadata.author)}</author>\n<imprint>\n"
        f"<format>text/html</format>\n<publisher>{xml(page.url.host)}</publisher>\n<pubDate>{xml(metadata.date)}</pubDate>\n"
        f"<eAddress>{xml(page.url)}</eAddress>\n"
        f'<availability status="{_status(metadata)}">{_licence(metadata)}</availability>\n'
        "</imprint>\n</monogr>\n</biblStruct>\n</sourceDesc>\n</fileDesc>\n"
    )


def _licence(metadata: Metadata) -> str:
    """The licence that the page states, a URL or a text. Nothing if it states none."""
    if not metadata.licence:
        return ""
    target = f' target="{xml(metadata.licence)}"' if metadata.licence.startswith(("http://", "https://")) else ""
    return f"<license{target}>{xml(metadata.licence)}</license>"


def _status(metadata: Metadata) -> str:
    """TEI's three words. Only Creative Commons and similar licences are known to be free."""
    if not metadata.licence:
        return "unknown"
    return "free" if "creativecommons.org/" in metadata.licence else "restricted"


def _profile(page: Page) -> str:
    keywords = filter(None, (term.strip() for term in page.metadata.keywords.split(",")))
    terms = "".join(f"<keyTerm>{xml(term)}</keyTerm>\n" for term in keywords)
    return (
        f'<profileDesc>\n<langUsage>\n<language iso639="{xml(page.language)}"/>\n</langUsage>\n'
        f"<textClass>\n<keywords>\n{terms}</keywords>\n{_domain(page.relevance)}<genre/>\n<subject/>\n</textClass>\n"
        "<annotations/>\n</profileDesc>\n"
    )


def _domain(relevance: Relevance | None) -> str:
    """The class that most speaks for, and all of them. Empty elements in a job without a topic."""
    if relevance is None or not relevance.relevant:
        return "<domain/>\n<subdomain/>\n"
    first = xml(relevance.classes[0]) if relevance.classes else ""
    all_of_them = xml(";".join(relevance.classes))
    return f'<domain confidence="{relevance.score:.4f}">{first}</domain>\n<subdomain>{all_of_them}</subdomain>\n'


def _paragraph(number: int, paragraph: Paragraph, page: Page) -> str:
    attributes = {
        "id": paragraph_id(number),
        "crawlinfo": crawl_info(paragraph, page),
        "type": "" if paragraph.kind is ParagraphKind.TEXT else paragraph.kind,
        "topic": ";".join(paragraph.terms),
    }
    written = "".join(f' {name}="{xml(value)}"' for name, value in attributes.items() if value)
    return f"<p{written}>{xml(paragraph.text)}</p>\n"


def _alignment(pair: PagePair, header: CorpusHeader, *, compress: bool) -> str:
    sides = ((pair.url_a, pair.lang_a), (pair.url_b, pair.lang_b))
    translations = "".join(
        f'<translation trans.loc="{compressed(document_name(url, language, header), compress=compress)}"'
        f' xml:lang="{xml(language)}" wsd="UTF-8" n="{number}"/>\n'
        for number, (url, language) in enumerate(sides, 1)
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<cesAlign version="1.0" {_NAMESPACES}>\n'
        f'<cesHeader version="1.0">\n<profileDesc>\n<translations>\n{translations}</translations>\n'
        "</profileDesc>\n</cesHeader>\n</cesAlign>\n"
    )
