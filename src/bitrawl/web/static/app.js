// Keeps the parts of a page that are marked with data-live up to date, sends verdicts without a reload, and moves by key.
// Everything works without it: forms are forms, and a reload shows the state.
"use strict";

const EVERY = 1500, HIDDEN = 10000, LOST = 2000; // milliseconds

// Makes an element like another one, and leaves alone what is the same: focus, selected text and what is open stay.
function morph(here, fresh) {
  if (here.nodeName !== fresh.nodeName || (here.id || "") !== (fresh.id || "")) { here.replaceWith(fresh); return; }
  if (here.nodeType !== Node.ELEMENT_NODE) {
    if (here.nodeValue !== fresh.nodeValue) here.nodeValue = fresh.nodeValue;
    return;
  }
  for (const { name } of [...here.attributes])
    if (!fresh.hasAttribute(name) && !(name === "open" && here.nodeName === "DETAILS")) here.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (here.getAttribute(name) !== value) here.setAttribute(name, value);
  let at = here.firstChild;
  for (const child of [...fresh.childNodes]) {
    let same = at;
    while (child.id && same && same.id !== child.id) same = same.nextSibling;
    if (!same) { here.insertBefore(child, at); continue; }
    while (at !== same) { const gone = at; at = at.nextSibling; gone.remove(); }
    const old = at;
    at = at.nextSibling;
    morph(old, child);
  }
  while (at) { const gone = at; at = at.nextSibling; gone.remove(); }
}

// The server is told which pieces of a part are here already, and sends the others.
function pieces(within) { return [...within.querySelectorAll("[data-piece]")]; }
function refresh(part, text) {
  const holder = document.createElement("template");
  holder.innerHTML = text;
  const fresh = pieces(holder.content);
  if (!fresh.length) {
    const whole = part.cloneNode(false);
    whole.append(holder.content);
    morph(part, whole);
  }
  for (const piece of fresh) {
    const here = pieces(part).find((one) => one.dataset.piece === piece.dataset.piece);
    if (here) morph(here, piece);
  }
}

function watch(part) {
  let tag = "";
  const lost = document.getElementById("lost");
  async function look() {
    let next = document.hidden ? HIDDEN : EVERY;
    try {
      const answer = await fetch(part.dataset.live, {
        headers: { "If-None-Match": pieces(part).map((one) => `"${one.dataset.version}"`).join(", ") || tag }, cache: "no-store", signal: AbortSignal.timeout(8000),
      });
      if (answer.status === 200) {
        tag = answer.headers.get("ETag") || "";
        refresh(part, await answer.text());
        const title = part.querySelector("[data-title]");
        if (title) document.title = title.dataset.title;
      } else if ([205, 401, 404].includes(answer.status) || answer.redirected) {
        location.reload();
        return;
      } else if (answer.status !== 304) throw new Error(answer.statusText);
      if (lost) lost.hidden = true;
      if (part.querySelector("[data-ended]")) next = HIDDEN;
    } catch {
      if (lost) lost.hidden = false;
      next = LOST;
    }
    setTimeout(look, next);
  }
  document.addEventListener("visibilitychange", () => { if (!document.hidden) tag = ""; });
  setTimeout(look, EVERY);
}
for (const part of document.querySelectorAll("[data-live]")) watch(part);

// Filters are folded on a phone, where they would push the list off the screen.
const phone = matchMedia("(max-width: 640px)");
function fold() { for (const filters of document.querySelectorAll("details.fold")) filters.open = !phone.matches; }
phone.addEventListener("change", fold);
if (phone.matches) fold();

// A form with data-part replaces that part of the page with the answer.
async function send(form, button) {
  const body = new FormData(form, button);
  const lost = document.getElementById("lost");
  let answer;
  try {
    answer = await fetch(button.getAttribute("formaction") || form.action, { method: "POST", body: new URLSearchParams(body), headers: { "X-Part": "1" } });
  } catch {
    if (lost) lost.hidden = false;
    return;
  }
  if (lost) lost.hidden = true;
  const holder = document.createElement("template");
  if (answer.ok || form.closest(".editing")) holder.innerHTML = await answer.text();
  if (!answer.ok) { refused(form, button, holder.content); return; }
  if (form.dataset.part === "segment") { settle([...holder.content.children], form.closest("[data-start]")); return; }
  const part = form.closest(".judged"), fresh = holder.content.querySelector(".judged");
  if (!fresh) { location.reload(); return; }
  const here = part.contains(document.activeElement); // the reader may have gone on meanwhile
  part.replaceWith(fresh);
  if (here) (fresh.querySelector(`button[value="${button.value}"]`) || fresh.querySelector("button")).focus({ preventScroll: true });
}

// What somebody wrote stays on the screen, with the reason; anything else is sent again, for a page that tells it.
function refused(form, button, page) {
  const why = page.querySelector("main .lead");
  if (!why) { form.dataset.part = ""; form.requestSubmit(button); return; }
  const told = form.querySelector(".problem") || form.insertAdjacentElement("afterbegin", document.createElement("p"));
  told.className = "problem";
  told.role = "alert";
  told.textContent = why.textContent;
}

// Rows take the place of those that stand for the same segments: a verdict is about the same texts wherever they are, a split
// makes two rows of one, a join one of two. What somebody is writing in another row stays.
function meets(one, other) {
  return one.dataset.within === other.dataset.within && +one.dataset.start < +other.dataset.stop && +other.dataset.start < +one.dataset.stop;
}
function settle(fresh, from) {
  const old = [...document.querySelectorAll("[data-start]")].filter((row) => row === from || !row.matches(".editing"));
  const gone = old.filter((row) => fresh.some((one) => meets(one, row)));
  const focused = from.contains(document.activeElement);
  const instead = fresh.filter((one) => meets(one, from));
  const again = instead.find((one) => one.dataset.nth === from.dataset.nth) || instead[0];
  if (!again) { location.reload(); return; }
  for (const one of fresh) gone.find((row) => meets(one, row))?.before(one);
  for (const row of gone) row.remove();
  if (focused) (again.querySelector("textarea") || again).focus({ preventScroll: true });
}

// Writing in a row: the link of the row leads to a page with the same fields, for those without scripts.
const covered = new WeakMap(); // rows that wait behind those in which somebody writes
let opening = false; // what is typed before the fields are there is no command
async function write(row, link) {
  opening = true;
  const answer = await fetch(link.href, { headers: { "X-Part": link.dataset.open } }).catch(() => null).finally(() => { opening = false; });
  if (!answer || !answer.ok) { location.assign(link.href); return; }
  const holder = document.createElement("template");
  holder.innerHTML = await answer.text();
  const fresh = holder.content.querySelector(".editing");
  if (!fresh || !row.isConnected) return;
  covered.set(fresh, row);
  row.replaceWith(fresh);
  fresh.querySelector("textarea").focus();
}
function leave(writing) {
  const row = covered.get(writing);
  if (!row) return false;
  writing.replaceWith(row);
  row.focus({ preventScroll: true });
  return true;
}
document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const link = event.target.closest("[data-open], [data-cancel]"), row = link && link.closest("[data-start]");
  if (!row) return;
  if (link.matches("[data-open]")) { event.preventDefault(); write(row, link); } else if (leave(row)) event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  const writing = event.target.closest(".editing");
  if (!writing || event.isComposing) return;
  if (event.key === "Escape" && leave(writing)) event.preventDefault();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    writing.querySelector("[data-main]").click();
  }
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.dataset.part) {
    const question = event.submitter?.dataset.ask || form.dataset.ask;
    if (question && !confirm(question)) event.preventDefault();
    return;
  }
  event.preventDefault();
  send(form, event.submitter);
});

// A form with data-sight shows what its values would change: figures at once, the rest when the reader rests.
const REST = 300; // milliseconds
document.documentElement.classList.add("scripted");
function figures(form, step) {
  const inside = new Intl.NumberFormat(document.documentElement.lang);
  for (const figure of form.querySelectorAll("[data-counts]")) figure.textContent = inside.format(JSON.parse(figure.dataset.counts)[step]);
  for (const chart of form.querySelectorAll("figure")) {
    const columns = [...chart.querySelectorAll(".column")], mark = chart.querySelector(".mark"), label = chart.querySelector(".marked");
    columns.forEach((column, place) => column.classList.toggle("pale", place < step));
    const edges = columns.map((column) => column.x.baseVal.value - 0.5);
    const x = edges[step] ?? 2 * edges[step - 1] - edges[step - 2];
    mark.setAttribute("x1", x);
    mark.setAttribute("x2", x);
    label.setAttribute("x", step > 50 ? x - 6 : x + 6);
    label.setAttribute("text-anchor", step > 50 ? "end" : "start");
    label.textContent = (step / 100).toLocaleString(document.documentElement.lang, { minimumFractionDigits: 2 });
  }
}
function sight(form) {
  let turn = 0, timer = 0;
  const field = () => form.querySelector("#min_score"), slider = () => form.querySelector("[data-slider]");
  async function look(button) {
    clearTimeout(timer);
    const mine = ++turn, query = new URLSearchParams(new FormData(form, button));
    query.delete("csrf");
    let answer;
    try { answer = await fetch(`${form.action}?${query}&part=1`); } catch { answer = { ok: false }; }
    document.getElementById("lost").hidden = answer.ok;
    if (!answer.ok || mine !== turn) return;
    const holder = document.createElement("template");
    holder.innerHTML = await answer.text();
    if (mine !== turn) return;
    for (const name of ["version", "show"]) query.delete(name);
    history.replaceState(null, "", `${form.action}?${query}`);
    morph(form, holder.content.querySelector("form"));
  }
  form.addEventListener("input", (event) => {
    if (event.target === slider()) field().value = event.target.value;
    if (event.target === field()) slider().value = event.target.value;
    if ([slider(), field()].includes(event.target)) figures(form, Math.round(100 * slider().value));
    turn++;
    clearTimeout(timer);
    timer = setTimeout(look, REST);
  });
  form.addEventListener("submit", (event) => {
    if (event.submitter && event.submitter.name === "keep") return;
    event.preventDefault();
    look(event.submitter);
  });
}
for (const form of document.querySelectorAll("[data-sight]")) sight(form);

// Reading: j and k (or the arrows) move, a accepts, r rejects, u takes it back; A, R and U do so for the page pair. In a row,
// e edits, c comments and m joins with the next.
// Where there is nothing to move through, as in a sample, a, r and u are about the whole.
// Other keys follow the link that names them (data-key). A key that is held down moves, but judges only once.
const MOVES = ["j", "k", "ArrowDown", "ArrowUp"];
function judged() { return [...document.querySelectorAll("[data-row]")]; }
function press(within, verdict) {
  const button = within && within.querySelector(`button[value="${verdict}"]`);
  if (button) button.click();
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  const rows = judged(), whole = document.querySelector("[data-whole]");
  if (event.repeat && !MOVES.includes(event.key)) return;
  if (!rows.length && (!whole || MOVES.includes(event.key))) return;
  if (event.target.closest(".editing")) return;
  if (opening) { event.preventDefault(); return; }
  const at = rows.indexOf(document.activeElement.closest("[data-row]"));
  const here = rows[at];
  switch (event.key) {
    case "j": case "ArrowDown": (rows[at + 1] || rows[rows.length - 1]).focus(); break;
    case "k": case "ArrowUp": (rows[Math.max(at - 1, 0)]).focus(); break;
    case "a": press(rows.length ? here : whole, "accept"); break;
    case "r": press(rows.length ? here : whole, "reject"); break;
    case "u": press(rows.length ? here : whole, "undo"); break;
    case "m": press(here, "join"); break;
    case "e": here?.querySelector('[data-open="edit"]')?.click(); break;
    case "c": here?.querySelector('[data-open="comment"]')?.click(); break;
    case "A": press(whole, "accept"); break;
    case "R": press(whole, "reject"); break;
    case "U": press(whole, "undo"); break;
    default: {
      const link = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
      if (!link) return;
      link.click();
    }
  }
  event.preventDefault();
});
