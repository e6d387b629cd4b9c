"""Sites about safety at work, and about bread, that the recorded wiki cites: small, but with text enough to mine."""

import html

_RISK = {
    "en": (
        "Risk assessment",
        "A risk assessment is the first duty of occupational safety and health in every company.",
        "Since 1996 each of the 27 workshops in the valley has written a risk assessment once a year.",
        "Whoever carries loads of more than 25 kilograms is asked about fatigue and about pain in the back.",
        "The inspector reads the risk assessment and names 3 dangers that must be removed before summer.",
        "Fatigue is a danger of its own, because tired people do not hear the warning signal.",
    ),
    "de": (
        "Gefährdungsbeurteilung",
        "Eine Gefährdungsbeurteilung ist die erste Pflicht im Arbeitsschutz jedes Betriebs.",
        "Seit 1996 hat jede der 27 Werkstätten im Tal einmal im Jahr eine Gefährdungsbeurteilung geschrieben.",
        "Wer Lasten von mehr als 25 Kilogramm trägt, wird nach Ermüdung und nach Schmerzen im Rücken gefragt.",
        "Der Prüfer liest die Gefährdungsbeurteilung und nennt 3 Gefahren, die vor dem Sommer beseitigt werden müssen.",
        "Die Ermüdung ist selbst eine Gefahr, weil müde Menschen das Warnsignal nicht hören.",
    ),
}
_HELMET = {
    "en": (
        "Hard hats",
        "A hard hat belongs to occupational safety and health on every building site.",
        "The law has demanded a hard hat below cranes since 1972, and 40 inspectors see to it.",
        "A hard hat of plastic is thrown away after 5 years, even if nothing has ever hit it.",
        "Hearing loss is the second danger there: from 85 decibels on, ears have to be protected.",
        "Hearing loss comes slowly, and nobody can heal it afterwards.",
    ),
    "de": (
        "Schutzhelme",
        "Ein Schutzhelm gehört auf jeder Baustelle zum Arbeitsschutz.",
        "Das Gesetz verlangt seit 1972 unter Kränen einen Schutzhelm, und 40 Prüfer achten darauf.",
        "Ein Schutzhelm aus Kunststoff wird nach 5 Jahren weggeworfen, auch wenn ihn nie etwas getroffen hat.",
        "Die Lärmschwerhörigkeit ist dort die zweite Gefahr: ab 85 Dezibel müssen die Ohren geschützt werden.",
        "Eine Lärmschwerhörigkeit kommt langsam, und niemand kann sie danach heilen.",
    ),
}
_DUST = {
    "en": (
        "Silicosis",
        "Silicosis is a disease of the lung that stonemasons and miners get from fine dust.",
        "In 1930 every third miner of the valley had silicosis before he was 50 years old.",
        "Water on the drill binds the dust, and since then silicosis has become rare.",
        "A risk assessment tells how much dust is in the air, and occupational safety and health sets the limit.",
        "The doctor looks at the lungs of 120 stonemasons every 2 years.",
    ),
    "de": (
        "Silikose",
        "Die Silikose ist eine Krankheit der Lunge, die Steinmetze und Bergleute von feinem Staub bekommen.",
        "Im Jahr 1930 hatte jeder dritte Bergmann des Tals eine Silikose, bevor er 50 Jahre alt war.",
        "Wasser am Bohrer bindet den Staub, und seitdem ist die Silikose selten geworden.",
        "Eine Gefährdungsbeurteilung sagt, wie viel Staub in der Luft ist, und der Arbeitsschutz setzt die Grenze.",
        "Der Arzt untersucht alle 2 Jahre die Lungen von 120 Steinmetzen.",
    ),
}
_BREAD = {
    "en": (
        "Bread for the festival",
        "The bakers of the village make 300 loaves of bread for the festival in autumn.",
        "The dough rests for 18 hours in wooden bowls, and nobody is allowed to open the door.",
        "In the morning the children carry 12 baskets of bread to the market beside the church.",
        "A loaf costs 4 euros, and the money pays for the new roof of the school.",
        "Whoever comes after noon finds only crumbs and friendly bakers.",
    ),
    "de": (
        "Brot für das Fest",
        "Die Bäcker des Dorfes backen 300 Laibe Brot für das Fest im Herbst.",
        "Der Teig ruht 18 Stunden in hölzernen Schüsseln, und niemand darf die Tür öffnen.",
        "Am Morgen tragen die Kinder 12 Körbe Brot auf den Markt neben der Kirche.",
        "Ein Laib kostet 4 Euro, und das Geld bezahlt das neue Dach der Schule.",
        "Wer nach dem Mittag kommt, findet nur noch Krümel und freundliche Bäcker.",
    ),
}
_ADDRESSES = {
    "/en/safety.html": "/de/sicherheit.html",
    "/en/helmets.html": "/de/helme.html",
    "/en/dust.html": "/de/staub.html",
    "/en/bread.html": "/de/brot.html",
}
ARTICLES = (_RISK, _HELMET, _DUST, _BREAD)
ON_TOPIC = 3
"""Of the articles; each is there in both languages."""


def bilingual() -> dict[str, str]:
    """A home page and every article in both languages, which link to each other."""
    pages = {}
    for (english, german), article in zip(_ADDRESSES.items(), ARTICLES, strict=True):
        pages[english] = _page("en", article["en"], "de", german)
        pages[german] = _page("de", article["de"], "en", english)
    return {**pages, "/": _page("en", _RISK["en"], "de", "/de/sicherheit.html")}


def _page(language: str, article: tuple[str, ...], other: str, there: str) -> str:
    title, *sentences = map(html.escape, article)
    named = zip(_ADDRESSES if language == "en" else _ADDRESSES.values(), ARTICLES, strict=True)
    links = " ".join(f'<a href="{path}">{html.escape(one[language][0])}</a>' for path, one in named)
    body = "".join(f"<p>{sentence}</p>" for sentence in sentences)
    return (
        f'<!doctype html><html lang="{language}"><head><title>{title}</title></head><body><nav>{links}'
        f' <a hreflang="{other}" href="{there}">{other}</a></nav><main><h1>{title}</h1>{body}</main></body></html>'
    )
