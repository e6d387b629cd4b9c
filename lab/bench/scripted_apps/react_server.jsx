import { readFileSync, writeFileSync } from "node:fs";
import { createElement as h } from "react";
import { renderToString } from "react-dom/server";
import { Article } from "./react.jsx";

// From a JSON file of articles by path to one of their HTML.
const [, , source, target] = process.argv, articles = JSON.parse(readFileSync(source));
const pages = Object.entries(articles).map(([path, article]) => [path, renderToString(h(Article, { article }))]);
writeFileSync(target, JSON.stringify(Object.fromEntries(pages)));
