"""The layouts of the sites. Each is one way of marking up a page, from nested tables to semantic HTML."""

import html
from collections.abc import Callable

import msgspec

from bitrawl.demo.content import DemoWords, Edition


class DemoAnchor(msgspec.Struct, frozen=True):
    """A link on a page."""

    href: str
    text: str
    language: str = ""  # of the target, if the link is in the switcher
    declared: bool = False  # with an hreflang attribute

    def __str__(self) -> str:
        hreflang = f' hreflang="{self.language}"' if self.declared else ""
        return f'<a href="{html.escape(self.href)}"{hreflang}>{html.escape(self.text)}</a>'


class View(msgspec.Struct, frozen=True):
    """Everything that a layout needs to know about a page."""

    edition: Edition
    words: DemoWords
    language: str
    html_lang: str  # the attribute, with a space before it; empty if there is none
    colour: str
    title: str
    body: str  # HTML
    image: str  # URL
    alt: str
    head: str  # HTML: charset and declared translations
    home: DemoAnchor
    canonical: str
    menu: tuple[DemoAnchor, ...]
    switch: tuple[DemoAnchor, ...]
    previous: DemoAnchor | None = None
    next: DemoAnchor | None = None
    printable: DemoAnchor | None = None
    closed: DemoAnchor | None = None  # what robots.txt forbids

    @property
    def page_title(self) -> str:
        return html.escape(f"{self.title} | {self.edition.name}", quote=False)

    @property
    def picture(self) -> str:
        return f'<img src="{self.image}" alt="{html.escape(self.alt)}" width="480" height="200">'

    def items(self, anchors: tuple[DemoAnchor, ...]) -> str:
        return "".join(f"<li>{anchor}</li>\n" for anchor in anchors)

    def said(self, text: str) -> str:
        return html.escape(text, quote=False)


Layout = Callable[[View], str]


def semantic(view: View) -> str:
    """Modern semantic HTML."""
    switch = f'<nav class="languages"><ul>{view.items(view.switch)}</ul></nav>' if view.switch else ""
    turn = " · ".join(str(anchor) for anchor in (view.previous, view.next) if anchor)
    return f"""<!DOCTYPE html>
<html{view.html_lang}>
<head>
{view.head}<meta name="viewport" content="width=device-width">
<title>{view.page_title}</title>
<meta name="description" content="{html.escape(view.edition.tagline)}">
<style>body{{font:17px/1.6 Georgia,serif;max-width:46em;margin:auto;color:#222}}header{{background:{view.colour};color:#fff;padding:1em}}
header a{{color:#fff}}nav li{{display:inline;margin-right:1em}}aside{{background:#eee;padding:.5em 1em}}img{{max-width:100%}}</style>
</head>
<body>
<header>
<p class="site-name">{view.home}</p>
<p class="tagline">{view.said(view.edition.tagline)}</p>
<nav class="main"><ul>
{view.items(view.menu)}</ul></nav>
{switch}
</header>
<main>
<article>
<h1>{view.said(view.title)}</h1>
<figure>{view.picture}<figcaption>{view.said(view.alt)}</figcaption></figure>
{view.body}
</article>
<aside><p>{view.said(view.edition.aside)}</p></aside>
<p class="turn">{turn}</p>
</main>
<footer><p>{view.said(view.edition.footer)}</p>{_closed(view)}</footer>
</body>
</html>
"""


def portal(view: View) -> str:
    """The divs of a content management system: cookie notice, search box, breadcrumbs and a sidebar on the left."""
    switch = f'<div id="lang-switch">{" | ".join(map(str, view.switch))}</div>' if view.switch else ""
    return f"""<!DOCTYPE html>
<html{view.html_lang}>
<head>
{view.head}<title>{view.page_title}</title>
<style>body{{font:15px/1.5 Verdana,sans-serif;margin:0}}#top{{background:{view.colour};color:#fff;padding:8px}}#top a{{color:#fff}}
#left{{float:left;width:200px;padding:12px;background:#f4f4f4}}#main{{margin-left:240px;max-width:42em}}.cookie{{background:#ffd;padding:4px}}#bottom{{clear:both;font-size:12px}}</style>
</head>
<body>
<div class="cookie" role="dialog"><span>{view.said(view.words.cookies)}</span> <button>OK</button></div>
<div id="top"><div class="logo">{view.home}</div><div class="slogan">{view.said(view.edition.tagline)}</div>{switch}
<form action="/search" method="get"><input name="q"><input type="submit" value="{view.words.search}"></form></div>
<div id="left"><ul class="menu">
{view.items(view.menu)}</ul>
<div class="box">{view.said(view.edition.aside)}</div></div>
<div id="main">
<div class="breadcrumb">{view.words.home} &raquo; {view.said(view.title)}</div>
<h1 class="title">{view.said(view.title)}</h1>
<div class="content">
<div class="image">{view.picture}</div>
{view.body}
</div>
<div class="toplink"><a href="#top">{view.words.top}</a></div>
</div>
<div id="bottom">{view.said(view.edition.footer)} {_closed(view)}</div>
</body>
</html>
"""


def table(view: View) -> str:
    """The nineties: nested tables, font elements, line breaks instead of paragraphs."""
    menu = "\n".join(f"<tr><td><font size=2>{anchor}</font></td></tr>" for anchor in view.menu)
    switch = "&nbsp;&nbsp;".join(str(anchor) for anchor in view.switch)
    body = view.body.replace("<p>", "").replace("</p>", "<br><br>")
    body = body.replace("<h2>", "<font size=3><b>").replace("</h2>", "</b></font><br>")
    return f"""<HTML{view.html_lang}>
<HEAD>
{view.head}<TITLE>{view.page_title}</TITLE>
</HEAD>
<BODY BGCOLOR="#FFFFF0" TEXT="#222222" LINK="{view.colour}">
<CENTER>
<TABLE WIDTH=760 BORDER=0 CELLPADDING=6>
<TR><TD COLSPAN=2 BGCOLOR="{view.colour}"><FONT COLOR="#FFFFFF" SIZE=5>{view.said(view.edition.name)}</FONT><BR>
<FONT COLOR="#FFFFFF" SIZE=2><I>{view.said(view.edition.tagline)}</I></FONT></TD></TR>
<TR><TD WIDTH=180 VALIGN=TOP BGCOLOR="#EEEECC">
<TABLE>
<tr><td><font size=2>{view.home}</font></td></tr>
{menu}
<tr><td><font size=1>{view.said(view.edition.aside)}</font></td></tr>
<tr><td>{switch}</td></tr>
</TABLE>
</TD><TD VALIGN=TOP>
<FONT SIZE=4><B>{view.said(view.title)}</B></FONT><BR>
{view.picture}<BR>
<FONT SIZE=2>
{body}
</FONT>
</TD></TR>
<TR><TD COLSPAN=2 ALIGN=CENTER><HR><FONT SIZE=1>{view.said(view.edition.footer)}</FONT></TD></TR>
</TABLE>
</CENTER>
</BODY>
</HTML>
"""


def wordpress(view: View) -> str:
    """The output of WordPress, with WPML's language switcher."""
    switch = "".join(
        f'<li class="wpml-ls-item wpml-ls-item-{anchor.language}"><a href="{html.escape(anchor.href)}" class="wpml-ls-link">'
        f'<span class="wpml-ls-native" lang="{anchor.language}">{anchor.text}</span></a></li>\n'
        for anchor in view.switch
    )
    switcher = f'<div class="wpml-ls-statics-shortcode_actions wpml-ls"><ul>\n{switch}</ul></div>' if switch else ""
    turn = "".join(f'<div class="nav-links">{anchor}</div>' for anchor in (view.previous, view.next) if anchor)
    printable = f'<span class="print-link">{view.printable}</span>' if view.printable else ""
    login = _closed(view).replace("<a ", '<a rel="nofollow" ')
    return f"""<!DOCTYPE html>
<html{view.html_lang}>
<head>
{view.head}<title>{view.page_title}</title>
<link rel="canonical" href="{html.escape(view.canonical)}">
<meta name="generator" content="WordPress 6.5">
<meta property="og:title" content="{html.escape(view.title)}">
<meta property="og:site_name" content="{html.escape(view.edition.name)}">
<style>body{{font:16px/1.7 sans-serif;margin:0 auto;max-width:60em}}.site-header{{border-top:8px solid {view.colour}}}.content-area{{width:65%;float:left}}
.widget-area{{width:28%;float:right;font-size:14px}}.site-footer{{clear:both;font-size:13px}}.menu li,.wpml-ls li{{display:inline-block;margin-right:1em}}</style>
</head>
<body class="post-template-default single single-post">
<div id="page" class="site">
<a class="skip-link screen-reader-text" href="#content">↓</a>
<header id="masthead" class="site-header"><div class="site-branding"><p class="site-title">{view.home}</p>
<p class="site-description">{view.said(view.edition.tagline)}</p></div>
{switcher}
<nav id="site-navigation" class="main-navigation"><ul id="primary-menu" class="menu">
{view.items(view.menu)}</ul></nav></header>
<div id="content" class="site-content"><div id="primary" class="content-area"><main id="main" class="site-main">
<article class="post type-post hentry"><header class="entry-header"><h1 class="entry-title">{view.said(view.title)}</h1></header>
<div class="post-thumbnail">{view.picture}</div>
<div class="entry-content">
{view.body}
</div>
<footer class="entry-footer">{printable}</footer></article>
<nav class="navigation post-navigation">{turn}</nav>
</main></div>
<aside id="secondary" class="widget-area"><section class="widget widget_text"><div class="textwidget"><p>{view.said(view.edition.aside)}</p></div></section>
<section class="widget widget_recent_entries"><h2 class="widget-title">{view.words.also}</h2><ul>
{view.items(view.menu)}</ul></section></aside></div>
<footer id="colophon" class="site-footer"><div class="site-info">{view.said(view.edition.footer)} {login}</div></footer>
</div>
</body>
</html>
"""


def docs(view: View) -> str:
    """A page of a documentation generator: tree on the left, a language selector, previous and next at the bottom."""
    options = "".join(
        f'<option value="{html.escape(a.href)}" lang="{a.language}">{a.text}</option>' for a in view.switch
    )
    links = " ".join(f'<a rel="alternate" href="{html.escape(a.href)}">{a.text}</a>' for a in view.switch)
    selector = f'<select onchange="location=this.value">{options}</select> <span class="translations">{links}</span>'
    turn = "".join(
        f'<a rel="{rel}" href="{html.escape(anchor.href)}">{word} · {view.said(anchor.text)}</a> '
        for rel, word, anchor in (("prev", view.words.previous, view.previous), ("next", view.words.next, view.next))
        if anchor
    )
    return f"""<!DOCTYPE html>
<html{view.html_lang} data-content_root="./">
<head>
{view.head}<title>{view.page_title}</title>
<style>body{{font:15px/1.6 system-ui,sans-serif;margin:0;display:flex}}.sphinxsidebar{{width:230px;padding:1em;background:#f2f6f6}}.document{{padding:1em 2em;max-width:44em}}h1{{color:{view.colour}}}</style>
</head>
<body>
<div class="sphinxsidebar" role="navigation"><div class="sphinxsidebarwrapper"><h3>{view.home}</h3>
<div class="toctree-wrapper"><ul class="current">
{view.items(view.menu)}</ul></div>
<div class="searchbox"><h3>{view.words.search}</h3><form><input name="q"></form></div>{selector}</div></div>
<div class="document"><div class="documentwrapper"><div class="bodywrapper"><div class="body" role="main">
<section>
<h1>{view.said(view.title)}<a class="headerlink" href="#">¶</a></h1>
{view.picture}
{view.body}
</section>
</div></div></div>
<div class="feedback">{view.said(view.edition.aside)}</div>
<div class="related">{turn}</div>
<div class="footer">{view.said(view.edition.footer)}</div></div>
</body>
</html>
"""


def newspaper(view: View) -> str:
    """XHTML of 2005: floated boxes. The front page links to the articles, and each article to the next."""
    front = f'<ul class="headlines">\n{view.items(view.menu)}</ul>' if view.switch else ""
    turn = " &nbsp; ".join(f"{anchor}" for anchor in (view.previous, view.next) if anchor)
    printable = f'<p class="tools">{view.printable}</p>' if view.printable else ""
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"{view.html_lang}>
<head>
{view.head}<title>{view.page_title}</title>
<style type="text/css">body{{font:14px/1.5 "Times New Roman",serif;width:760px;margin:0 auto}}#masthead{{border-bottom:3px double {view.colour};text-align:center;font-size:30px}}#side{{float:right;width:200px;font-size:12px;border-left:1px solid #999;padding-left:10px}}</style>
</head>
<body>
<div id="masthead">{view.home}</div>
<div id="motto">{view.said(view.edition.tagline)} {" / ".join(map(str, view.switch))}</div>
<div id="side"><p>{view.said(view.edition.aside)}</p></div>
<div id="story">
<h1>{view.said(view.title)}</h1>
<div class="photo">{view.picture}<br />{view.said(view.alt)}</div>
{view.body}
{printable}
{front}
<p class="turn">{turn}</p>
</div>
<div id="foot"><small>{view.said(view.edition.footer)}</small></div>
</body>
</html>
"""


def hub(view: View) -> str:
    """A page of links."""
    return f"""<!DOCTYPE html>
<html{view.html_lang}>
<head>
{view.head}<title>{view.page_title}</title>
<style>body{{font:17px/1.6 Georgia,serif;max-width:44em;margin:2em auto}}h1{{color:{view.colour}}}</style>
</head>
<body>
<h1>{view.said(view.title)}</h1>
{view.picture}
{view.body}
<ul class="links">
{view.items(view.menu)}</ul>
<p>{view.said(view.edition.aside)}</p>
<footer>{view.said(view.edition.footer)}</footer>
</body>
</html>
"""


def printed(view: View) -> str:
    """The article alone, without anything around it."""
    return f"""<!DOCTYPE html>
<html{view.html_lang}>
<head>
{view.head}<title>{view.page_title}</title>
</head>
<body onload="window.print()">
<p>{view.said(view.edition.name)}</p>
<h1>{view.said(view.title)}</h1>
{view.body}
<hr>
<p><small>{html.escape(view.canonical)}</small></p>
</body>
</html>
"""


LAYOUTS: dict[str, Layout] = {
    "semantic": semantic,
    "portal": portal,
    "table": table,
    "wordpress": wordpress,
    "docs": docs,
    "newspaper": newspaper,
    "hub": hub,
}


def _closed(view: View) -> str:
    return str(view.closed) if view.closed else ""
