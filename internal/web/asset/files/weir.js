// The dashboard's only module. Pages are complete without it: it keeps them
// fresh (live, times), and adds keys, copying, dialogs and toasts.
const $ = (selector, from = document) => from.querySelector(selector);
const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];

/* Words: the page has them, in the language of its reader. */
const words = JSON.parse(document.body.dataset.words || "{}");
const word = (name, ...values) => (words[name] || "").replace(/%[ds]/g, () => values.shift());

/* Times, as package ui writes them (clock.go). */
function span(ms) {
  const s = Math.floor(Math.abs(ms) / 1000);
  if (s < 60) return word("s", s);
  if (s < 3600) return word("m", Math.floor(s / 60));
  if (s < 86400) return word("h", Math.floor(s / 3600));
  return word("d", Math.floor(s / 86400));
}

function exactSpan(ms) {
  const s = Math.floor(Math.abs(ms) / 1000);
  const two = (ua, a, ub, b) => (b ? word("two", word(ua, a), word(ub, b)) : word(ua, a));
  if (s < 60) return word("s", s);
  if (s < 3600) return two("m", Math.floor(s / 60), "s", s % 60);
  if (s < 86400) return two("h", Math.floor(s / 3600), "m", Math.floor((s % 3600) / 60));
  return two("d", Math.floor(s / 86400), "h", Math.floor((s % 86400) / 3600));
}

// skew is the server's clock minus ours: ages count from the server's.
const skew = Date.parse(document.body.dataset.now || "") - Date.now() || 0;

function say(time, now) {
  const ms = now - Date.parse(time.dateTime);
  if (Number.isNaN(ms)) return;
  let text;
  if (time.dataset.rel === "since") text = exactSpan(Math.max(0, ms));
  else if (time.dataset.rel === "until") text = exactSpan(Math.max(0, -ms));
  else if (ms >= 0) text = ms < 1000 ? word("now") : word("ago", span(ms));
  else text = ms > -1000 ? word("now") : word("in", span(ms));
  if (time.textContent !== text) time.textContent = text;
}

function sayAll(from = document) {
  const now = Date.now() + skew;
  for (const time of $$("time[data-rel]", from)) say(time, now);
}

/* Morph: make one tree like another and touch only what differs, so that focus,
   scroll, open details and selected text stay. */
const keyOf = (node) => (node.nodeType === 1 ? node.id || node.dataset.key || "" : "");
const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

function place(parent, node, before) {
  if (node.isConnected && parent.moveBefore) parent.moveBefore(node, before);
  else parent.insertBefore(node, before);
}

function morphChildren(from, to) {
  const keyed = new Map();
  for (const node of from.childNodes) if (keyOf(node)) keyed.set(keyOf(node), node);
  let at = from.firstChild;
  for (const want of [...to.childNodes]) {
    const have = keyOf(want) ? keyed.get(keyOf(want)) : at;
    if (!have || !alike(have, want)) {
      place(from, document.importNode(want, true), at);
      continue;
    }
    if (have === at) at = at.nextSibling;
    else place(from, have, at);
    morph(have, want);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function morph(have, want) {
  if (have.nodeType !== 1) {
    if (have.data !== want.data) have.data = want.data;
    return;
  }
  const time = have.nodeName === "TIME" && have.dataset.rel;
  for (const { name, value } of [...want.attributes]) {
    if (name === "open" && have.nodeName === "DETAILS") continue;
    if (have.getAttribute(name) !== value) have.setAttribute(name, value);
  }
  for (const { name } of [...have.attributes]) {
    if (want.hasAttribute(name) || (name === "open" && have.nodeName === "DETAILS")) continue;
    have.removeAttribute(name);
  }
  if (time) say(have, Date.now() + skew);
  else if (have !== document.activeElement || !have.matches("input, select, textarea")) morphChildren(have, want);
}

function swap({ id, hash, html }) {
  const have = document.getElementById(id);
  if (!have) return;
  const want = document.createElement("template");
  want.innerHTML = html;
  const focused = document.activeElement;
  const ends = atEnd(have);
  morphChildren(have, want.content);
  if (ends) toEnd(have);
  have.dataset.live = hash;
  sayAll(have);
  if (focused && focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
}

/* A log that goes on is read at its end, unless somebody has scrolled up. */
function atEnd(root) {
  const log = $("[data-end] .log", root);
  return !log || log.scrollHeight - log.scrollTop - log.clientHeight < 40;
}

function toEnd(root) {
  for (const log of $$("[data-end] .log", root)) log.scrollTop = log.scrollHeight;
}

/* Live: one stream for the page. It rests while nobody looks. */
const follow = document.body.dataset.follow;
let stream = null;
let failures = 0;
let again = 0;

function show(state) {
  const sign = $("#link-state");
  if (!sign || sign.dataset.state === state) return;
  sign.dataset.state = state;
  sign.title = word(state === "live" ? "fresh" : "stale");
  $(".words", sign).textContent = word(state);
  $("use", sign).setAttribute("href", state === "live" ? "#i-live" : "#i-offline");
}

function listen() {
  clearTimeout(again);
  stream?.close();
  const have = $$("[data-live]").map((e) => e.id + ":" + e.dataset.live).join(",");
  stream = new EventSource("/live?" + new URLSearchParams({ path: follow, have }));
  stream.addEventListener("hello", (e) => {
    failures = 0;
    show("live");
    if (e.data !== document.body.dataset.build) toast(word("updated"));
  });
  stream.addEventListener("fragment", (e) => swap(JSON.parse(e.data)));
  stream.addEventListener("gone", () => location.reload());
  stream.onerror = () => retry();
}

function retry() {
  stream?.close();
  stream = null;
  failures++;
  show(failures > 3 || !navigator.onLine ? "offline" : "reconnecting");
  clearTimeout(again);
  const wait = Math.min(15000, 500 * 2 ** failures) * (0.5 + Math.random() / 2);
  again = setTimeout(async () => {
    if (document.hidden) return;
    // A stream cannot say why it was refused. The page can: it asks to log in.
    if (failures > 1) {
      try {
        const answer = await fetch(follow, { method: "HEAD", redirect: "manual" });
        if (answer.type === "opaqueredirect" || [401, 403, 404].includes(answer.status)) return location.reload();
      } catch {
        // Still away; the next try tells.
      }
    }
    listen();
  }, wait);
}

function rest() {
  clearTimeout(again);
  stream?.close();
  stream = null;
  show("paused");
}

if (follow) {
  let hiding = 0;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(rest, 5000);
    else if (!stream) listen();
  });
  addEventListener("online", () => stream || listen());
  addEventListener("pagehide", rest);
  // Else the stream hears of the end of the session first, and reloads in its middle.
  document.addEventListener("submit", (e) => e.target.getAttribute("action") === "/logout" && rest());
  addEventListener("pageshow", (e) => e.persisted && listen());
  if (!document.hidden) listen();
}

/* Toasts. */
function toast(text, bad = false) {
  const made = $("#toast").content.firstElementChild.cloneNode(true);
  made.classList.toggle("is-bad", bad);
  $(".words", made).textContent = text;
  $(".toasts").append(made);
  fade(made);
}

function fade(made) {
  if (made.classList.contains("is-bad")) return;
  setTimeout(() => made.matches(":hover, :focus-within") || made.remove(), 8000);
}

/* Copy. The clipboard is closed to plain http, so there is the old way too. */
async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text, className: "sr" });
    ($("dialog[open]") || document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  if (!button) return toast(word("copied", text));
  button.classList.add("is-done");
  $("use", button)?.setAttribute("href", "#i-check");
  setTimeout(() => {
    button.classList.remove("is-done");
    $("use", button)?.setAttribute("href", "#i-copy");
  }, 1500);
}

/* Dialogs. The question is a page of its own; here it opens in place. */
async function ask(link) {
  const dialog = $("#ask");
  try {
    const answer = await fetch(link.href, { headers: { Accept: "text/html" } });
    const question = $("#question", new DOMParser().parseFromString(await answer.text(), "text/html"));
    if (!answer.ok || !question) throw new Error();
    dialog.replaceChildren(document.importNode(question, true));
    dialog.showModal();
    ($("[autofocus]", dialog) || $("button[type=submit]", dialog))?.focus();
  } catch {
    location.assign(link.href);
  }
}

/* Theme: light, dark, or what the system says. */
function theme(choice) {
  if (choice) {
    try {
      if (choice === "system") localStorage.removeItem("weir-theme");
      else localStorage.setItem("weir-theme", choice);
    } catch {
      // It holds for this page then.
    }
    if (choice === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
  }
  const now = document.documentElement.dataset.theme || "system";
  for (const b of $$("[data-theme-choice]")) b.setAttribute("aria-pressed", String(b.dataset.themeChoice === now));
}

document.addEventListener("click", (e) => {
  const at = e.target.closest("[data-copy], [data-confirm], [data-close], [data-theme-choice], [data-help], a, button, input, select, textarea, label, summary, tr[data-href]");
  if (!at) {
    if (e.target.matches("dialog")) e.target.close();
    return;
  }
  if (at.dataset.copy !== undefined) copy(at.dataset.copy, at);
  else if (at.dataset.close !== undefined) close(e, at);
  else if (at.dataset.themeChoice) theme(at.dataset.themeChoice);
  else if (at.dataset.help !== undefined) $("#help").showModal();
  else if (e.metaKey || e.ctrlKey || e.shiftKey || e.button) return;
  else if (at.dataset.confirm !== undefined) {
    e.preventDefault();
    ask(at);
  } else if (at.matches("tr[data-href]") && !String(getSelection())) location.assign(at.dataset.href);
});

function close(e, button) {
  const toasted = button.closest(".toast");
  if (toasted) toasted.remove();
  const dialog = button.closest("dialog");
  if (!dialog) return;
  e.preventDefault();
  dialog.close();
}

/* Filters: a change submits, and the address keeps only what is set. */
document.addEventListener("change", (e) => {
  const form = e.target.closest("form.filter");
  if (form) form.requestSubmit();
});
document.addEventListener("submit", (e) => {
  if (!e.target.matches("form.filter")) {
    // A second click must not do it twice.
    for (const b of $$("button[type=submit]", e.target)) setTimeout(() => (b.disabled = true));
    return;
  }
  e.preventDefault();
  const query = new URLSearchParams([...new FormData(e.target)].filter(([, v]) => v !== ""));
  location.assign(e.target.getAttribute("action") + (query.size ? "?" + query : ""));
});
addEventListener("pageshow", () => {
  for (const b of $$("button[type=submit]:disabled")) b.disabled = false;
});

/* Keys. */
let pending = 0;

function move(by) {
  const rows = $$("tr[data-href]").filter((row) => row.checkVisibility());
  if (!rows.length) return;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by))];
  $("a.row-link, a", row)?.focus();
  row.scrollIntoView({ block: "nearest" });
}

const keys = {
  "/": () => {
    $("#search").focus();
    $("#search").select();
  },
  "?": () => $("#help").showModal(),
  j: () => move(1),
  k: () => move(-1),
  c: () => {
    const from = document.activeElement.closest("tr") || $(".page-head");
    const found = from && $("[data-copy]", from);
    if (found) copy(found.dataset.copy);
  },
  g: () => {
    pending = Date.now();
  },
};

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
  const typing = e.target.closest("input, textarea, select, [contenteditable]");
  if (e.key === "Escape" && typing) return typing.blur();
  if (typing || $("dialog[open]")) return;
  const go = Date.now() - pending < 1500 && $(`a[data-go="${CSS.escape(e.key)}"]`);
  pending = 0;
  if (go) {
    e.preventDefault();
    location.assign(go.href);
  } else if (Object.hasOwn(keys, e.key) && $("#help")) {
    e.preventDefault();
    keys[e.key]();
  }
});

theme();
sayAll();
setInterval(() => document.hidden || sayAll(), 1000);
$$(".toast").forEach(fade);

toEnd(document);
