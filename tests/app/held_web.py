"""The bundled web, served from a thread of the test, which lets a crawler see as many pages of a host as the test wants."""

import html
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from bitrawl import demo
from bitrawl.demo import DemoDocument
from bitrawl.errors import UrlError
from bitrawl.url import Url
from lab.loopback import Reply, answering

PATIENCE = 300.0  # seconds that a page is held at most: the test that holds it has failed then
HOSTILE, ARABIC = "www.hostile.test", "www.arabic.test"
TITLES = ("<script>document.title='run'</script>", '"><img src=x onerror="document.title=\'run\'">')
_PROSE = {
    "en": (
        "The museum at the old harbour was opened in 1887 by the fishermen of the town.",
        "In winter the museum is open from 10 to 16 every day except Monday.",
        "A ticket costs 7 euros, and children under 12 years pay nothing.",
        "The library of the museum holds 3500 books about ships and the sea.",
    ),
    "fr": (
        "Le musée du vieux port a été ouvert en 1887 par les pêcheurs de la ville.",
        "En hiver, le musée est ouvert de 10 à 16 heures tous les jours sauf le lundi.",
        "Un billet coûte 7 euros, et les enfants de moins de 12 ans ne paient rien.",
        "La bibliothèque du musée possède 3500 livres sur les navires et la mer.",
    ),
    "ar": (
        "افتتح صيادو المدينة متحف الميناء القديم في عام 1887.",
        "في الشتاء يفتح المتحف من الساعة 10 إلى الساعة 16 كل يوم ما عدا الاثنين.",
        "ثمن التذكرة 7 يورو، ولا يدفع الأطفال دون 12 سنة شيئا.",
        "تضم مكتبة المتحف 3500 كتاب عن السفن والبحر.",
    ),
}


class HeldWeb:
    """Of the hosts that are held, only so many pages are answered; the others wait."""

    def __init__(self) -> None:
        self._documents = {**demo.bundled().documents, **own_sites()}
        self._pages = {*demo.pages(), *own_sites()}
        self._most: dict[str, int] = {}
        self._visits: list[str] = []
        self._changed = threading.Condition()

    def hold(self, host: str, pages: int) -> None:
        """Answer no more than so many pages, until `hold` or `release` is called again. Who was not held begins anew."""
        with self._changed:
            if host not in self._most:
                self._visits = [url for url in self._visits if Url.known(url).host != host]
            self._most[host] = pages
            self._changed.notify_all()

    def release(self, host: str) -> None:
        with self._changed:
            self._most.pop(host, None)
            self._changed.notify_all()

    def release_all(self) -> None:
        for host in list(self._most):
            self.release(host)

    def visits(self, host: str) -> list[str]:
        """Pages that were asked for, in order."""
        with self._changed:
            return [url for url in self._visits if Url.known(url).host == host]

    def wait_for_visits(self, host: str, count: int) -> None:
        """Until so many pages were asked for, answered or not."""
        with self._changed:
            enough = self._changed.wait_for(lambda: self._count(host) >= count, PATIENCE)
        assert enough, f"{host} was asked for {self._count(host)} pages"

    def _count(self, host: str) -> int:
        return sum(Url.known(url).host == host for url in self._visits)

    def answer(self, raw: str) -> DemoDocument | None:
        try:
            url = Url.parse(raw)
        except UrlError:
            return None
        if url in self._pages:
            with self._changed:
                self._visits.append(url)
                turn = self._count(url.host)
                self._changed.notify_all()
                self._changed.wait_for(lambda: turn <= self._most.get(url.host, turn), PATIENCE)
        return self._documents.get(url)


@contextmanager
def served(web: HeldWeb) -> Iterator[int]:
    """The port on loopback."""

    def answer(address: str) -> Reply:
        found = web.answer(address) or DemoDocument(b"no such page", "text/plain", 404)
        return Reply(found.status, found.type, found.body, tuple(found.headers))

    with answering(answer) as port:
        try:
            yield port
        finally:
            web.release_all()


def own_sites() -> dict[Url, DemoDocument]:
    """A site whose titles and sentences are markup, and one in Arabic."""
    hostile = [{code: (title, [f"{one} {title}" for one in _PROSE[code]]) for code in ("en", "fr")} for title in TITLES]
    arabic = [{code: (title, list(_PROSE[code])) for code, title in (("en", "The museum"), ("ar", "المتحف"))}]
    return {**_site(HOSTILE, hostile), **_site(ARABIC, arabic)}


def _site(host: str, articles: list[dict[str, tuple[str, list[str]]]]) -> dict[Url, DemoDocument]:
    made: dict[Url, DemoDocument] = {}
    for number, article in enumerate(articles):
        for code, (title, sentences) in article.items():
            head = "".join(f'<link rel="alternate" hreflang="{one}" href="/{one}/{number}">' for one in article)
            links = " ".join(f'<a href="/{one}/{n}">{one} {n}</a>' for one in article for n in range(len(articles)))
            body = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
            text = (
                f'<!doctype html><html lang="{code}"><head><title>{html.escape(title)}</title>{head}</head>'
                f"<body><nav>{links}</nav><main><h1>{html.escape(title)}</h1>{body}</main></body></html>"
            )
            made[Url.parse(f"http://{host}/{code}/{number}")] = DemoDocument(text.encode(), "text/html; charset=utf-8")
    made[Url.parse(f"http://{host}/")] = made[Url.parse(f"http://{host}/en/0")]
    return made
