"""Two small wikis about one subject, with everything that a bootstrap has to tell apart; made up for the tests."""

from typing import NamedTuple
from xml.sax.saxutils import escape


class Article(NamedTuple):
    title: str
    text: str
    categories: tuple[str, ...] = ()
    translation: str = ""  # its title in the other edition
    links: tuple[str, ...] = ()  # to the web; {bilingual}, {single} and {home} stand for the addresses of test sites


ROOT = "Occupational safety and health"
DISEASES, LUNGS, GEAR = "Occupational diseases", "Dust diseases of the lung", "Personal protective equipment"

ENGLISH = [
    # the category graph has a cycle: the lungs' category holds the root again
    Article(f"Category:{ROOT}", "", (LUNGS,), "Kategorie:Arbeitsschutz"),
    Article(f"Category:{DISEASES}", "", (ROOT,), "Kategorie:Berufskrankheit"),
    Article(f"Category:{GEAR}", "", (ROOT,)),
    Article(f"Category:{LUNGS}", "", (DISEASES,)),
    Article("Category:Empty shelf", "Nothing is in it."),
    Article(
        ROOT,
        "'''Occupational safety and health''' is a field that is concerned with the safety of people at work. "
        "Good occupational safety and health practice reduces accidents.",
        (ROOT,),
        "Arbeitsschutz",
        ("{bilingual}en/safety.html", "mailto:info@example.org", "https://doi.org/10.1000/1"),
    ),
    Article(
        "Risk assessment",
        "'''Risk assessment''' weighs hazards. A risk assessment is written down by the employer.",
        (ROOT,),
        "Gefährdungsbeurteilung",
        ("{bilingual}en/safety.html", "{single}risk.html"),
    ),
    Article("Health and safety at work", f"#REDIRECT [[{ROOT}]]"),
    Article("Work hygiene", f"#REDIRECT [[{ROOT}]]", (ROOT,)),
    Article("NIOSH", "'''NIOSH''' is an agency.", (ROOT,), "NIOSH"),
    Article("ISO 45001", "'''ISO 45001''' is a standard.", (ROOT,)),
    Article("Health and Safety at Work Act", "The '''Health and Safety at Work Act''' is a law.", (ROOT,)),
    Article(
        "Bhopal", "'''Bhopal''' is a city. Many people in Bhopal were hurt by gas from a factory.", (ROOT,), "Bhopal"
    ),
    Article("List of industrial disasters", "This list is short.", (ROOT,)),
    Article("Dust (disambiguation)", "'''Dust''' may refer to many things.", (ROOT,)),
    Article("Fatigue (work)", "'''Fatigue''' is tiredness. At work, fatigue causes accidents.", (DISEASES,), "Ermüdung"),
    Article("Hearing loss", "'''Hearing loss''' comes from noise. Such hearing loss lasts.", (DISEASES,), "Lärmschwerhörigkeit"),
    Article("Silicosis", "'''Silicosis''' comes from dust. People with silicosis cough.", (LUNGS,), "Silikose", ("{home}lung/",)),
    Article("Asbestosis", "'''Asbestosis''' comes from asbestos. No drug cures asbestosis.", (LUNGS,), "Asbestose"),
    Article("Hard hat", "A '''hard hat''' protects the head.", (GEAR,), "Schutzhelm"),
    Article("Safety goggles", "'''Goggles''' protect the eyes.", (GEAR, ROOT)),
]  # fmt: skip

GERMAN = [
    Article("Kategorie:Arbeitsschutz", "", (), f"Category:{ROOT}"),
    Article("Kategorie:Berufskrankheit", "", ("Arbeitsschutz",), f"Category:{DISEASES}"),
    Article("Arbeitsschutz", "'''Arbeitsschutz''' schützt.", ("Arbeitsschutz",), ROOT, ("{bilingual}de/sicherheit.html",)),
    Article("Gefährdungsbeurteilung", "Die '''Gefährdungsbeurteilung''' prüft.", ("Arbeitsschutz",), "Risk assessment"),
    Article("Betriebsarzt", "Ein '''Betriebsarzt''' berät.", ("Arbeitsschutz",), "", ("{home}arzt/",)),
    Article("Liste der Berufskrankheiten", "Die Liste ist kurz.", ("Berufskrankheit",)),
    Article("Silikose", "Die '''Silikose''' ist eine Staublunge.", ("Berufskrankheit",), "Silicosis"),
    Article("Asbestose", "#WEITERLEITUNG [[Silikose]]"),
    Article("Ermüdung (Begriffsklärung)", "'''Ermüdung''' steht für vieles.", ("Arbeitsschutz",)),
    Article("Schutzhelm", "Ein '''Schutzhelm''' schützt den Kopf.", ("Arbeitsschutz",), "Hard hat"),
]  # fmt: skip

EDITIONS = {"en": ENGLISH, "de": GERMAN}
CATEGORY = {"en": "Category", "de": "Kategorie"}
OTHER = {"en": "de", "de": "en"}


def wikitext(article: Article, language: str, sites: dict[str, str]) -> str:
    lines = [article.text]
    lines += [f"* [{link.format(**sites)} see]" for link in article.links]
    lines += [f"[[{CATEGORY[language]}:{name}]]" for name in article.categories]
    if article.translation:
        lines.append(f"[[{OTHER[language]}:{article.translation}]]")
    return "\n".join(lines)


def export(language: str, sites: dict[str, str]) -> str:
    """The edition as MediaWiki's own import reads it."""
    pages = "".join(
        f"<page><title>{escape(article.title)}</title><ns>{14 if article.title.startswith(CATEGORY[language]) else 0}</ns>"
        "<revision><timestamp>2026-11-01T00:00:00Z</timestamp><contributor><username>Test</username><id>0</id>"
        "</contributor><model>wikitext</model><format>text/x-wiki</format>"
        f'<text xml:space="preserve">{escape(wikitext(article, language, sites))}</text></revision></page>'
        for article in EDITIONS[language]
    )
    return f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="{language}">{pages}</mediawiki>'
