import { createElement as h, useEffect, useState } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { load, options, route } from "./article.js";
import { Article, List } from "./react.jsx";

const App = () => {
  const [article, setArticle] = useState(null), [language, setLanguage] = useState("en");
  useEffect(() => { load(options.buttons ? `/${language}${route()}` : route()).then(setArticle); }, [language]);
  if (!article) return h("p", null, "Loading…");
  document.documentElement.lang = article.language;
  document.title = article.title;
  return article.list ? h(List, { article }) : h(Article, { article, press: options.buttons && setLanguage });
};
const root = document.getElementById("root");
if (window.ARTICLE) hydrateRoot(root, h(Article, { article: window.ARTICLE }));
else createRoot(root).render(h(App));
