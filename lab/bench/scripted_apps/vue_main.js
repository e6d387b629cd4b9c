import { createApp, h, ref } from "vue";
import { load, route } from "./article.js";

const article = ref(null);
const show = () => load(route()).then((loaded) => { article.value = loaded; document.documentElement.lang = loaded.language; });
addEventListener("hashchange", show);
show();
const link = ({ href, text }) => h("a", { href }, text);
createApp({
  render: () => article.value && h("div", [
    h("nav", article.value.other && link(article.value.other)),
    h("main", [h("h1", article.value.title), ...article.value.blocks.map(({ kind, text }) => h(kind, text))]),
    h("ul", article.value.links.map((one) => h("li", link(one)))),
  ]),
}).mount("#app");
