import { createElement as h, useEffect, useRef, useState } from "react";

const Block = ({ kind, text }) => h(kind, null, text);

export const Article = ({ article, press }) =>
  h("div", null,
    h("nav", null, press
      ? ["English", "Français"].map((name, n) => h("button", { key: name, onClick: () => press(["en", "fr"][n]) }, name))
      : article.other && h("a", { href: article.other.href }, article.other.text)),
    h("main", null, h("h1", null, article.title), article.blocks.map((block, n) => h(Block, { key: n, ...block }))),
    h("ul", null, article.links.map(({ href, text }) => h("li", { key: href }, h("a", { href }, text)))));

// Three more links each time that the end of the list is seen.
export const List = ({ article }) => {
  const [count, setCount] = useState(3), end = useRef(null);
  useEffect(() => {
    const observer = new IntersectionObserver((seen) => seen[0].isIntersecting && setCount((now) => now + 3));
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [count]);
  return h("main", null, h("h1", null, article.title),
    article.links.slice(0, count).map(({ href, text }) => h("p", { key: href, style: { height: "60vh" } }, h("a", { href }, text))),
    h("div", { ref: end }, "…"));
};
