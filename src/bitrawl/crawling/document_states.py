"""Documents of one address: scripts draw another for a hash route (`#/en/about`) and after a click on a language.

A `Url` has no fragment, so such a document gets an address of its own: the parameter `_escaped_fragment_`, which crawlers and
servers once agreed on for it, holds the route, and after a tilde the language. Servers that know it answer with the document;
all others answer with the page, of which a browser then draws the document.
"""

import re
from html import escape
from typing import NamedTuple, Self
from urllib.parse import quote, unquote

from bitrawl.url import Url

PARAMETER = "_escaped_fragment_"
_STATE = re.compile(r"(?P<route>.*?)(?:~(?P<language>[A-Za-z0-9-]{2,35}))?", re.DOTALL)
_HEAD = re.compile("</head>|<body", re.IGNORECASE)


class DocumentState(NamedTuple):
    """A page, the route of its scripts, and the language that was chosen on it."""

    page: str
    route: str = ""  # what comes after #
    language: str = ""

    @classmethod
    def of(cls, url: Url) -> Self:
        parts = url.query.split("&") if url.query else []
        own = [part for part in parts if part.startswith(f"{PARAMETER}=")]
        if not own:
            return cls(url)
        rest = "&".join(part for part in parts if part not in own)
        match = _STATE.fullmatch(unquote(own[0].partition("=")[2]))
        page = url.partition("?")[0] + (f"?{rest}" if rest else "")
        return cls(page, match["route"], match["language"] or "") if match else cls(page)

    @classmethod
    def at(cls, address: str) -> Self:
        """Where a browser is."""
        page, _, fragment = address.partition("#")
        return cls(page, unquote(fragment) if fragment.startswith(("/", "!")) else "")

    @property
    def address(self) -> str:
        """What the browser goes to."""
        return f"{self.page}#{self.route}" if self.route else self.page

    @property
    def url(self) -> Url:
        """What the crawl knows it by."""
        state = self.route + (f"~{self.language}" if self.language else "")
        if not state:
            return Url.parse(self.page)
        mark = "&" if "?" in self.page else "?"
        return Url.parse(f"{self.page}{mark}{PARAMETER}={quote(state, safe='')}")

    @property
    def base(self) -> "DocumentState":
        return DocumentState(self.page, self.route)

    def in_language(self, language: str) -> "DocumentState":
        return DocumentState(self.page, self.route, language)

    def declaring(self, html: str, languages: list[tuple[str, str]]) -> str:
        """The document with links to its translations, which its buttons do not have."""
        links = "".join(
            f'<link rel="alternate" hreflang="{escape(language)}" href="{escape(address)}">'
            for language, address in languages
        )
        place = _HEAD.search(html)
        return html[: place.start()] + links + html[place.start() :] if place and links else html


ALIKE = 0.5  # of their parts that two documents share, to be the same in the same language; judgement
_PART = 5  # characters


def alike(one: str, other: str) -> bool:
    """Whether two texts are one, but for a menu that has opened. A translation shares names and numbers only."""
    parts = [{text[at : at + _PART] for at in range(len(text) - _PART + 1)} for text in (one, other)]
    return len(parts[0] & parts[1]) >= ALIKE * max(1, len(parts[0] | parts[1])) or one == other


OPEN = """(() => {
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (given) { return attach.call(this, { ...given, mode: "open" }); };
})()"""
"""What a page keeps in a closed shadow tree is shown to its readers: it is opened for the snapshot."""

TEXT = """() => (document.body ? document.body.innerText : "").slice(0, 20000)"""
"""What is seen."""

SIZE = """() => {
  const text = document.body ? document.body.textContent : "";
  let sum = 0;
  for (let i = 0; i < text.length; i += 7) sum = (31 * sum + text.charCodeAt(i)) | 0;
  return `${document.readyState} ${document.getElementsByTagName("*").length} ${text.length} ${sum}`;
}"""
"""Whether all that the page names is loaded ("complete"), and a fingerprint of what is drawn."""

SCROLL = """() => {
  const height = document.documentElement.scrollHeight, earlier = window.__height || innerHeight;
  if (height <= earlier) return false;
  window.__height = height;
  window.scrollTo(0, height);
  return true;
}"""
"""Go to the end, if the page has become longer; whether it had."""

# What the browser computed stands in an attribute of each element that may be hidden, as far as `hiding` in page/styles.py asks
# for it, and the rules that could show it again in a style element. So one reader judges all pages by the same rules. What the
# browser itself hides until a reader opens it (a dialog, a popover) is not told. Inherited values are told where they change.
COMPUTE = r"""(mark) => {
  const plain = ["opacity", "filter", "clip", "clip-path", "position", "left", "right", "top", "bottom", "transform", "translate",
    "scale", "margin-left", "margin-top", "width", "height", "max-width", "max-height", "padding-top", "padding-bottom"];
  const inherited = ["visibility", "font-size", "text-indent"];
  const moved = Object.entries({ opacity: "1", filter: "none", clip: "auto", clipPath: "none", position: "static",
    transform: "none", translate: "none", scale: "none", overflowX: "visible" });
  const hides = new RegExp("display:none|visibility:(hidden|collapse)|opacity:0(?!\\.[1-9])|opacity\\(0|font-size:[01](\\.\\d+)?px"
    + "|text-indent:-?\\d{3}|clip:rect|clip-path:|(left|right|top|bottom):-?\\d{3}|margin-(left|top):-\\d{3}|translate:"
    + "|translate.*\\d{3}|scale.*\\(0|scale:0|(width|height):[01](\\.\\d+)?(px|%)");
  const silent = "head,head *,script,style,template,noscript", opened = "[hidden],dialog,[popover],datalist,option,optgroup,rp";
  const names = new Set(), sheets = [], values = new Map();
  const tell = (element) => {
    element.removeAttribute(mark);
    if (element.matches(silent)) return;
    const style = getComputedStyle(element);
    const around = element.assignedSlot || element.parentElement || element.getRootNode().host;
    const before = values.get(around) || [], own = inherited.map((name) => `${name}:${style.getPropertyValue(name)}`);
    values.set(element, own);
    const told = own.filter((value, i) => value !== before[i] && (hides.test(value) || hides.test(before[i])));
    if (!element.matches(opened)) {
      if (style.display === "none") told.push("display:none");
      if (style.contentVisibility === "hidden") told.push("content-visibility:hidden");
    }
    const map = moved.some(([name, usual]) => style[name] !== usual) || parseFloat(style.marginLeft) < -99
      || parseFloat(style.marginTop) < -99 ? element.computedStyleMap() : null;
    for (const name of map ? plain : []) {
      const value = String(map.get(name) ?? "");
      const isUsual = /^(|auto|none|static|1|100%)$/.test(value) || (/^(margin|padding)/.test(name) && value === "0px");
      if (!isUsual) told.push(`${name}:${value}`);
    }
    if (!hides.test(told.join(";")) && !before.some((value) => hides.test(value))) return;
    if (style.overflowX !== "visible") told.push(`overflow:${style.overflowX}`);
    if (style.transitionDuration !== "0s") told.push(`transition:${style.transitionDuration}`);
    if (style.animationName !== "none") told.push(`animation-name:${style.animationName}`);
    element.setAttribute(mark, told.join(";"));
    const called = [...element.classList].map((name) => "." + name).concat(element.id ? "#" + element.id : []);
    for (const name of called.length ? called : [element.localName]) names.add(name);
  };
  const look = (root) => {
    sheets.push(...root.styleSheets, ...root.adoptedStyleSheets);
    for (const element of root.querySelectorAll("*")) {
      tell(element);
      if (element.shadowRoot) look(element.shadowRoot);
    }
  };
  const about = (selector) => selector.split(",").some((part) => {
    const last = part.trim().split(/[\s>+~]+/).pop();
    return (last.match(/[.#](\\.|[\w-])+/g) || [last.split(/[:[]/)[0]]).some((name) => names.has(name));
  });
  const showing = (rules) => [...rules].map((rule) => {
    if (rule.selectorText !== undefined) return about(rule.selectorText) ? rule.cssText : "";
    const inner = rule.cssRules ? showing(rule.cssRules) : "";
    return inner ? rule.cssText.slice(0, rule.cssText.indexOf("{") + 1) + inner + "}" : "";
  }).join("");
  look(document);
  document.documentElement.toggleAttribute(mark, true);
  const element = document.createElement("style");
  element.setAttribute(mark, "");
  element.textContent = sheets.map((sheet) => { try { return showing(sheet.cssRules); } catch { return ""; } }).join("");
  if (!element.textContent) return;
  (document.head || document.documentElement).append(element);
  if (element.sheet) element.sheet.disabled = true;
}"""
"""Tell what is hidden."""

# Shadow trees are drawn into the document. Routes get the addresses that `DocumentState` knows them by.
SNAPSHOT = """([parameter, most]) => {
  for (const link of document.querySelectorAll("a[href*='#']")) {
    const to = new URL(link.getAttribute("href"), location.href);
    const same = to.origin === location.origin && to.pathname === location.pathname;
    if (same && /^#(!|[/])/.test(to.hash)) {
      const route = decodeURIComponent(to.hash.slice(1));
      to.hash = "";
      to.searchParams.delete(parameter);
      link.setAttribute("href", to.href + (to.search ? "&" : "?") + parameter + "=" + encodeURIComponent(route));
    }
  }
  const hosts = [...document.querySelectorAll("*")].filter((element) => element.shadowRoot);
  if (!hosts.length) return ("<!doctype html>" + document.documentElement.outerHTML).slice(0, most);
  const quoted = (text) => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
  const raw = new Set(["script", "style", "noscript", "template", "iframe", "textarea"]);
  const empty = new Set(["area","base","br","col","embed","hr","img","input","link","meta","source","track","wbr"]);
  let size = 0;
  const written = (node, depth) => {
    if (size > most || depth > 400) return "";
    if (node.nodeType === 3) { size += node.data.length; return plain(node.data); }
    if (node.nodeType !== 1) return "";
    const name = node.localName;
    let inner = "";
    if (raw.has(name)) inner = node.innerHTML;
    else {
      const assigned = name === "slot" && node.assignedNodes ? node.assignedNodes() : [];
      const children = node.shadowRoot ? node.shadowRoot.childNodes : assigned.length ? assigned : node.childNodes;
      for (const child of children) inner += written(child, depth + 1);
    }
    let attributes = "";
    for (const { name, value } of node.attributes) attributes += ` ${name}="${quoted(value)}"`;
    size += attributes.length + 2 * name.length + 5;
    return `<${name}${attributes}>` + (empty.has(name) ? "" : `${inner}</${name}>`);
  };
  return "<!doctype html>" + written(document.documentElement, 0);
}"""
"""The document as drawn."""

LANGUAGE_BUTTONS = """(number) => {
  const places = "button,[role=button],[role=menuitem],[role=option],[role=tab],a:not([href]),a[href='#'],a[href=''],"
    + "a[href^='javascript:'],[onclick],[data-lang],option";
  const seen = [...document.querySelectorAll(places)].filter((place) => place.textContent.trim().length < 40).slice(0, 500);
  if (number === null) return seen.map((place) => place.textContent.trim() || place.getAttribute("aria-label") || "");
  const place = seen[number];
  if (place && place.localName === "option") {
    const select = place.closest("select");
    select.value = place.value;
    for (const name of ["input", "change"]) select.dispatchEvent(new Event(name, { bubbles: true }));
  } else if (place) place.click();
  return [];
}"""
"""The labels of what can be pressed; with a number, press that one."""
