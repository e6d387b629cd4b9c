"""A web on loopback that stands for the hosts of our documentation: example.org in four languages, and every wiki.

It is a proxy that speaks TLS for them: whoever trusts its certificate and asks through it meets this web and no other.
"""

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from lab.loopback import QuietHandler, Reply, listening

SITE = "https://www.example.org"
NAMES = {"en": "English", "fr": "Français", "de": "Deutsch", "it": "Italiano"}
ARTICLES: dict[str, dict[str, list[str]]] = {
    "": {
        "en": ["The district of Ostmark", "The district lies between the lake and the mountains, 40 kilometres from the sea.",
               "About 12,000 people live here, and most of them work in the forests, in the harbour or in two factories.",
               "On these pages you can read about our environment and about safety at work."],
        "fr": ["Le district d'Ostmark", "Le district est situé entre le lac et les montagnes, à 40 kilomètres de la mer.",
               "Environ 12 000 personnes vivent ici, et la plupart travaillent dans les forêts, au port ou dans deux usines.",
               "Sur ces pages, vous pouvez lire ce qui concerne notre environnement et la sécurité au travail."],
        "de": ["Der Bezirk Ostmark", "Der Bezirk liegt zwischen dem See und den Bergen, 40 Kilometer vom Meer entfernt.",
               "Etwa 12.000 Menschen leben hier, und die meisten arbeiten in den Wäldern, im Hafen oder in zwei Fabriken.",
               "Auf diesen Seiten lesen Sie etwas über unsere Umwelt und über die Sicherheit bei der Arbeit."],
        "it": ["Il distretto di Ostmark", "Il distretto si trova tra il lago e le montagne, a 40 chilometri dal mare.",
               "Circa 12.000 persone vivono qui, e la maggior parte lavora nei boschi, nel porto o in due fabbriche.",
               "In queste pagine potete leggere del nostro ambiente e della sicurezza sul lavoro."],
    },
    "acid-rain": {
        "en": ["Acid rain", "Acid rain falls where the smoke of power stations and cars mixes with the clouds.",
               "In 1984 the lakes of the district lost almost all of their fish to acid rain.",
               "Air pollution damages the forests, the soil and the walls of old churches.",
               "Since 1990 the emissions of sulphur have fallen by 70 per cent.",
               "The environment agency measures the water of 42 lakes every month."],
        "fr": ["Les pluies acides", "Les pluies acides tombent là où la fumée des centrales et des voitures se mêle aux nuages.",
               "En 1984, les lacs du district ont perdu presque tous leurs poissons à cause des pluies acides.",
               "La pollution de l'air abîme les forêts, les sols et les murs des vieilles églises.",
               "Depuis 1990, les émissions de soufre ont baissé de 70 pour cent.",
               "L'agence de l'environnement mesure chaque mois l'eau de 42 lacs."],
        "de": ["Saurer Regen", "Saurer Regen fällt dort, wo sich der Rauch von Kraftwerken und Autos mit den Wolken mischt.",
               "1984 verloren die Seen des Bezirks durch sauren Regen fast alle ihre Fische.",
               "Die Verschmutzung der Luft schadet den Wäldern, den Böden und den Mauern alter Kirchen.",
               "Seit 1990 ist der Ausstoß von Schwefel um 70 Prozent gesunken.",
               "Das Umweltamt misst jeden Monat das Wasser von 42 Seen."],
        "it": ["Le piogge acide", "Le piogge acide cadono dove il fumo delle centrali e delle auto si mescola con le nuvole.",
               "Nel 1984 i laghi del distretto persero quasi tutti i loro pesci a causa delle piogge acide.",
               "L'inquinamento dell'aria danneggia i boschi, il suolo e i muri delle vecchie chiese.",
               "Dal 1990 le emissioni di zolfo sono diminuite del 70 per cento.",
               "L'agenzia per l'ambiente misura ogni mese l'acqua di 42 laghi."],
    },
    "safety": {
        "en": ["Safety at work", "Whoever works in a factory must know the risks of the machines.",
               "Every worker receives a helmet, gloves and a pair of safety shoes on the first day.",
               "In 2019 there were 31 accidents at work in the district, and in 2024 only 12.",
               "An inspector visits each factory twice a year and talks to the workers about their health.",
               "Noise of more than 85 decibels is a danger to the ears."],
        "fr": ["La sécurité au travail", "Quiconque travaille dans une usine doit connaître les risques des machines.",
               "Chaque ouvrier reçoit un casque, des gants et une paire de chaussures de sécurité le premier jour.",
               "En 2019, il y a eu 31 accidents du travail dans le district, et en 2024 seulement 12.",
               "Un inspecteur visite chaque usine deux fois par an et parle de leur santé avec les ouvriers.",
               "Un bruit de plus de 85 décibels est un danger pour les oreilles."],
        "de": ["Sicherheit bei der Arbeit", "Wer in einer Fabrik arbeitet, muss die Gefahren der Maschinen kennen.",
               "Jeder Arbeiter bekommt am ersten Tag einen Helm, Handschuhe und ein Paar Sicherheitsschuhe.",
               "2019 gab es im Bezirk 31 Arbeitsunfälle, 2024 nur noch 12.",
               "Ein Inspektor besucht jede Fabrik zweimal im Jahr und spricht mit den Arbeitern über ihre Gesundheit.",
               "Lärm von mehr als 85 Dezibel ist eine Gefahr für die Ohren."],
        "it": ["La sicurezza sul lavoro", "Chi lavora in una fabbrica deve conoscere i rischi delle macchine.",
               "Ogni operaio riceve il primo giorno un casco, dei guanti e un paio di scarpe di sicurezza.",
               "Nel 2019 ci furono 31 infortuni sul lavoro nel distretto, nel 2024 soltanto 12.",
               "Un ispettore visita ogni fabbrica due volte all'anno e parla con gli operai della loro salute.",
               "Un rumore di oltre 85 decibel è un pericolo per le orecchie."],
    },
}  # fmt: skip


def path_of(article: str, language: str) -> str:
    return f"/{article}" if language == "en" else f"/{language}/{article}"


def html(article: str, language: str) -> str:
    title, *sentences = ARTICLES[article][language]
    declared = "".join(
        f'<link rel="alternate" hreflang="{code}" href="{SITE}{path_of(article, code)}">' for code in NAMES
    )
    switcher = "".join(f'<a href="{path_of(article, code)}">{name}</a> ' for code, name in NAMES.items())
    menu = "".join(f'<li><a href="{path_of(key, language)}">{ARTICLES[key][language][0]}</a>' for key in ARTICLES)
    text = "".join(f"<p>{sentence}</p>" for sentence in sentences)
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>{declared}</head>'
        f"<body><nav>{switcher}<ul>{menu}</ul></nav><main><h1>{title}</h1>{text}</main></body></html>"
    )


PAGES = {path_of(article, language): html(article, language) for article in ARTICLES for language in NAMES}
ADDRESSES = [f"{SITE}{path}" for path in PAGES]
SITEMAP = f"<urlset>{''.join(f'<url><loc>{address}</loc></url>' for address in ADDRESSES)}</urlset>"


def wiki_answer(language: str, asked: dict[str, str]) -> dict[str, Any]:
    """As any MediaWiki: every category that is asked for has our articles, which cite our pages."""
    pages: list[dict[str, Any]] = []
    if "gcmtitle" in asked or "pageids" in asked:
        for number, key in enumerate(filter(None, ARTICLES), 1):
            title, *sentences = ARTICLES[key][language]
            there = asked.get("lllang", "")
            links = [{"lang": there, "title": ARTICLES[key][there][0], "url": f"https://{there}.wikipedia.org/wiki/x"}]
            cited = [{"url": f"{SITE}{path_of(key, code)}"} for code in NAMES]
            pages.append({"title": title, "pageid": number, "ns": 0, "langlinks": links if there else [],
                          "extlinks": cited, "extract": " ".join(sentences)})  # fmt: skip
    for number, title in enumerate(asked.get("titles", "").split("|"), 10) if "titles" in asked else ():
        category = title.startswith("Category:")
        pages.append({"title": title, "pageid": number, "ns": 14 if category else 0, "categoryinfo": {"size": 2}})
    return {"query": {"pages": pages, "general": {"lang": language}}}


def answer(address: str) -> Reply:
    host, path, query = (parts := urlsplit(address)).hostname or "", parts.path, parts.query
    if path.endswith("api.php"):
        language = host.partition(".")[0]
        told = wiki_answer(language if language in NAMES else "en", dict(parse_qsl(query)))
        return Reply(200, "application/json", json.dumps(told).encode())
    if path == "/sitemap.xml":
        return Reply(200, "application/xml", SITEMAP.encode())
    if path == "/robots.txt":
        return Reply(200, "text/plain", b"User-agent: *\nDisallow: /private/\n")
    if path in PAGES:
        return Reply(200, "text/html; charset=utf-8", PAGES[path].encode())
    return Reply(404, "text/html", b"<title>404</title>There is no such page.")


class Handler(QuietHandler):
    """Plain requests for whole addresses, tunnels for https, and requests for a path, as any server gets them."""

    tls: ssl.SSLContext
    origin = ""

    def do_CONNECT(self) -> None:  # noqa: N802 - its name in the standard library
        self.send_response(200)
        self.end_headers()
        self.connection = self.tls.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.origin = f"https://{self.path}"

    def finish(self) -> None:
        super().finish()
        self.connection.close()

    def do_GET(self) -> None:  # noqa: N802 - its name in the standard library
        origin = self.origin or f"http://{self.headers['Host']}"
        self.reply(answer(self.path if "://" in self.path else f"{origin}{self.path}"))


@contextmanager
def example_web(certificate: Path) -> Iterator[int]:
    """Its port. The certificate is written to that file, for those who are to trust it."""
    certificate.write_text(PEM)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with listening(type("OurHandler", (Handler,), {"tls": tls})) as port:
        yield port


# For example.org and what is below it and below wikipedia.org and example.test; signed by itself, good until 2126.
PEM = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgnrqXYejFVcexXL05
NkT3tsgPd1UXy+ibCsOun8cy282hRANCAATxKJ8USYbYRxcGf/1hBD3Cv6Iioh2u
/2jrUIxMNp6sdZc51oXn4p3y9bIXJMmLcY5uNipfUBnQIv5OVZ7BrdGu
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBzTCCAXOgAwIBAgIUNJB1LYXHHqF0/cOsOkvKir4yrkEwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLZXhhbXBsZS5vcmcwIBcNMjYxMTE3MTE0OTI3WhgPMjEyNjEw
MjQxMTQ5MjdaMBYxFDASBgNVBAMMC2V4YW1wbGUub3JnMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAE8SifFEmG2EcXBn/9YQQ9wr+iIqIdrv9o61CMTDaerHWXOdaF
5+Kd8vWyFyTJi3GObjYqX1AZ0CL+TlWewa3RrqOBnDCBmTAdBgNVHQ4EFgQUcIv6
zagnSAm6lPWHTr5LY4lJrgwwHwYDVR0jBBgwFoAUcIv6zagnSAm6lPWHTr5LY4lJ
rgwwDwYDVR0TAQH/BAUwAwEB/zBGBgNVHREEPzA9ggtleGFtcGxlLm9yZ4INKi5l
eGFtcGxlLm9yZ4IPKi53aWtpcGVkaWEub3Jngg4qLmV4YW1wbGUudGVzdDAKBggq
hkjOPQQDAgNIADBFAiA0M2Jp6YCAwSOnKECzIP1q92eTC1PM6OLtCgy0tsdLYwIh
AN0BQGmtYECWd9YyyuWToRZim2nvoP/wfrio3spSqSVy
-----END CERTIFICATE-----
"""
