"""A small made-up web on loopback: sites about bees, about football and about both, in English and in French."""

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from lab.loopback import Reply, answering

# Each sentence with its translation; the slots take a number and a season.
BEES = [
    ("The beekeeper opens the hive in {season} and looks for the queen.", "L'apiculteur ouvre la ruche au {saison} et cherche la reine."),
    ("About {number} worker bees bring nectar and pollen back to the hive.", "Environ {number} abeilles ouvrières rapportent du nectar et du pollen à la ruche."),
    ("The honey ripens in the comb until the bees seal it with wax.", "Le miel mûrit dans le rayon jusqu'à ce que les abeilles le ferment avec de la cire."),
    ("A swarm of {number} bees left the apiary with the old queen.", "Un essaim de {number} abeilles a quitté le rucher avec la vieille reine."),
    ("The varroa mite weakens the larvae and spreads from hive to hive.", "Le varroa affaiblit les larves et se propage de ruche en ruche."),
    ("In {season} the beekeeper feeds the colony with sugar syrup.", "Au {saison}, l'apiculteur nourrit la colonie avec du sirop de sucre."),
    ("Bees pollinate the blossoms of {number} apple trees near the apiary.", "Les abeilles pollinisent les fleurs de {number} pommiers près du rucher."),
    ("The frames with honey are taken from the hive and spun in the extractor.", "Les cadres de miel sont retirés de la ruche et passés dans l'extracteur."),
]  # fmt: skip
FOOTBALL = [
    ("The striker scored a goal in minute {number} of the match.", "L'attaquant a marqué un but à la minute {number} du match."),
    ("The referee showed the defender a yellow card before the penalty.", "L'arbitre a montré un carton jaune au défenseur avant le penalty."),
    ("The club signed a new goalkeeper for the league in {season}.", "Le club a recruté un nouveau gardien de but pour le championnat au {saison}."),
    ("About {number} supporters came to the stadium for the cup final.", "Environ {number} supporters sont venus au stade pour la finale de la coupe."),
    ("The coach changed the team after the defeat in the first half.", "L'entraîneur a changé l'équipe après la défaite en première mi-temps."),
    ("The midfielder passed the ball to the captain near the goal line.", "Le milieu de terrain a passé le ballon au capitaine près de la ligne de but."),
    ("The players train on the pitch until {season}, then the season begins.", "Les joueurs s'entraînent sur le terrain jusqu'au {saison}, puis la saison commence."),
]  # fmt: skip
SUBJECTS = {"bees": BEES, "football": FOOTBALL}
SEASONS = [("winter", "début de l'hiver"), ("spring", "printemps"), ("summer", "début de l'été"), ("autumn", "début de l'automne")]  # fmt: skip
TERMS = {
    "en": "hive beekeeper queen nectar pollen honey wax swarm apiary varroa|worker bees|bees",
    "fr": "ruche apiculteur reine nectar pollen miel cire essaim rucher varroa|abeilles ouvrières|abeilles",
}
HUB = "http://hub.test/"
HONEY, STADIUM, MIXED = "http://honey.test/", "http://stadium.test/", "http://town.test/"


def term_list(*languages: str) -> str:
    """In ILSP-FC's format."""
    lines = []
    for code in languages:
        single, _, several = TERMS[code].partition("|")
        lines += [f"100:{term}=beekeeping>{code}\n" for term in (*single.split(), *several.split("|"))]
    return "".join(lines)


def article(subject: str, number: int, sentences: int = 18) -> dict[str, list[str]]:
    """Its sentences by language, sentence by sentence translations."""
    chance = random.Random(f"{subject} {number}")
    found: dict[str, list[str]] = {"en": [], "fr": []}
    for _ in range(sentences):
        english, french = chance.choice(SUBJECTS[subject])
        season, saison = chance.choice(SEASONS)
        value = chance.randint(2, 9000)
        found["en"].append(english.format(number=value, season=season))
        found["fr"].append(french.format(number=value, saison=saison))
    return found


def text(subject: str, language: str, number: int = 1000) -> str:
    return "\n".join(article(subject, number, 40)[language])


def html(language: str, title: str, sentences: list[str], links: dict[str, str], head: str = "") -> str:
    paragraphs = "".join(f"<p>{' '.join(sentences[n : n + 3])}</p>" for n in range(0, len(sentences), 3))
    menu = "".join(f'<li><a href="{target}">{words}</a></li>' for target, words in links.items())
    return (
        f'<!doctype html><html lang="{language}"><head><title>{title}</title>{head}</head>'
        f"<body><h1>{title}</h1>{paragraphs}<ul>{menu}</ul></body></html>"
    )


def site(host: str, subjects: dict[str, int], others: tuple[str, ...] = ()) -> dict[str, str]:
    """So many articles of each subject in two languages, each with a link to its translation, under two home pages."""
    pages: dict[str, str] = {}
    names: dict[str, dict[str, str]] = {code: {} for code in ("en", "fr")}
    for subject, count in subjects.items():
        for number in range(count):
            made = article(subject, number + 100 * len(host))
            for code, other in (("en", "fr"), ("fr", "en")):
                path = f"{host}{code}/{subject}-{number}"
                names[code][path] = " ".join(made[code][0].split()[:6])
                head = f'<link rel="alternate" hreflang="{other}" href="{host}{other}/{subject}-{number}">'
                links = {f"{host}{code}/": "Home" if code == "en" else "Accueil"}
                pages[path] = html(code, names[code][path], made[code], links, head)
    for code, targets in names.items():
        welcome = article(next(iter(subjects)), 7 + len(host), 6)[code]
        elsewhere = dict.fromkeys(others, "Friends") if code == "en" else {}
        pages[f"{host}{code}/"] = html(code, "Welcome" if code == "en" else "Bienvenue", welcome, targets | elsewhere)
    pages[host] = html(
        "en",
        "Welcome",
        article(next(iter(subjects)), 9 + len(host), 6)["en"],
        {f"{host}en/": "English", f"{host}fr/": "Français"},
    )
    return pages


def web() -> dict[str, str]:
    """The hub links to three sites; the site about honey links to a fourth."""
    friendly = "http://apiary.test/"
    hub = html("en", "Directory", ["This directory lists a few sites of our region for everybody who likes to read."],
               {f"{HONEY}en/": "Honey", f"{STADIUM}en/": "Stadium", f"{MIXED}en/": "Town"})  # fmt: skip
    return {
        HUB: hub,
        **site(HONEY, {"bees": 8}, (f"{friendly}en/",)),
        **site(STADIUM, {"football": 12}),
        **site(MIXED, {"football": 5, "bees": 5}),
        **site(friendly, {"bees": 4}),
    }


GERMAN = "Willkommen auf unserer Seite. Hier finden Sie Neuigkeiten, Termine und die Anschrift unseres Vereins in der Stadt. "
HOMES = ("splash", "redirect", "shell", "foreign")


class Closed(NamedTuple):
    """A web whose home pages say nothing of their sites."""

    pages: dict[str, str]
    redirects: dict[str, str]


def closed_web(homes: str) -> Closed:
    """A hub that only links to five sites of twelve articles, one about bees; the home pages are of one of the kinds of `HOMES`."""
    made = Closed({}, {})
    hosts = [f"http://site{number}.test/" for number in range(5)]
    for number, host in enumerate(hosts):
        made.pages.update(site(host, {"bees" if number == 3 else "football": 12}))
        languages = f'<a href="{host}en/">English</a> <a href="{host}fr/">Français</a>'
        german = "".join(f'<a href="{host}de/{place}">Seite {place}</a> ' for place in range(6))
        for place in range(6):
            made.pages[f"{host}de/{place}"] = html("de", f"Seite {place}", [GERMAN, f"Dies ist Seite {place}."], {})
        closed = {
            "splash": f"<title>{host}</title><div>{languages}</div>",
            "shell": f'<a href="{host}en/">enter</a>',
            "foreign": f'<html lang="de"><title>Verein</title><p>{GERMAN * 3}</p>{german}{languages}',
        }
        made.pages[host] = closed.get(homes, "")
        if homes == "redirect":
            made.redirects[host] = f"{host}de/"
            made.pages[f"{host}de/"] = closed["foreign"]
    made.pages[HUB] = html("en", "Sites", [], {host: host for host in hosts})
    return made


class Served(NamedTuple):
    """Where it is, and what was asked."""

    port: int
    asked: list[str]
    before: list[Callable[[str], None]]  # each is called with an address before it is answered

    @property
    def flags(self) -> list[str]:
        return ["--delay", "0", "--allow-private", "--connect-to", f"*.test=127.0.0.1:{self.port}"]


@contextmanager
def serve(pages: Mapping[str, str | bytes], redirects: dict[str, str] | None = None) -> Iterator[Served]:
    moved = redirects or {}
    asked: list[str] = []
    before: list[Callable[[str], None]] = []

    def answer(address: str) -> Reply:
        asked.append(address)
        for each in before:
            each(address)
        page = pages.get(address, b"")
        body = page.encode() if isinstance(page, str) else page
        status = 301 if address in moved else 200 if body else 404
        headers = (("Location", moved[address]),) if address in moved else ()
        return Reply(status, "text/html; charset=utf-8", body, headers)

    with answering(answer) as port:
        yield Served(port, asked, before)
