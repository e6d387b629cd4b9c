import { LitElement, html } from "lit";
import { html as statically, unsafeStatic } from "lit/static-html.js";
import { load, route } from "./article.js";

// Its texts are in a shadow tree.
class AppRoot extends LitElement {
  static properties = { article: { state: true } };
  connectedCallback() {
    super.connectedCallback();
    load(route()).then((loaded) => { this.article = loaded; document.documentElement.lang = loaded.language; });
  }
  render() {
    if (!this.article) return html``;
    const { title, blocks, links, other } = this.article;
    const block = ({ kind, text }) => statically`<${unsafeStatic(kind)}>${text}</${unsafeStatic(kind)}>`;
    return html`<nav><a href=${other.href}>${other.text}</a></nav><main><h1>${title}</h1>${blocks.map(block)}</main>
      <ul>${links.map(({ href, text }) => html`<li><a href=${href}>${text}</a></li>`)}</ul>`;
  }
}
customElements.define("app-root", AppRoot);
