import "@angular/compiler";
import { Component, provideZonelessChangeDetection, signal } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { load, route } from "./article.js";

class App {
  article = signal(null);
  constructor() {
    load(route()).then((loaded) => { this.article.set(loaded); document.documentElement.lang = loaded.language; });
  }
}
const template = `@if (article(); as a) {
  <nav><a [href]="a.other.href">{{ a.other.text }}</a></nav>
  <main><h1>{{ a.title }}</h1>@for (block of a.blocks; track $index) {
    @if (block.kind === "h2") { <h2>{{ block.text }}</h2> } @else if (block.kind === "li") { <li>{{ block.text }}</li> } @else { <p>{{ block.text }}</p> }
  }</main>
  <ul>@for (link of a.links; track link.href) { <li><a [href]="link.href">{{ link.text }}</a></li> }</ul> }`;
Component({ selector: "app-root", template, standalone: true })(App);
bootstrapApplication(App, { providers: [provideZonelessChangeDetection()] });
