"use strict";
const $ = (id) => document.getElementById(id);
let folder = "", open = null, tag = null, ends = "\n", dirty = false;
const longest = 2 * 1024 * 1024; // what a text area can bear

const url = (path) => "/files/" + path.split("/").map(encodeURIComponent).join("/");
const join = (a, b) => (a ? a + "/" : "") + b;

async function ask(method, path, options = {}) {
  const answer = await fetch(url(path) + (options.query || ""), { method, body: options.body, headers: options.headers });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer;
}

function say(text) { $("state").textContent = text; }

async function list(path) {
  try {
    const { entries } = await (await ask("GET", path)).json();
    folder = path;
    $("here").textContent = "/" + path;
    const rows = entries.map((e) => row(e.name, e.kind, () => (e.kind === "folder" ? list(join(path, e.name)) : read(join(path, e.name), e.size))));
    if (path) rows.unshift(row("..", "folder", () => list(path.split("/").slice(0, -1).join("/"))));
    if (!rows.length) rows.push(Object.assign(document.createElement("li"), { textContent: "No files yet." }));
    $("files").replaceChildren(...rows);
  } catch (e) { say(e.message); }
}

function row(name, kind, act) {
  const li = document.createElement("li"), button = document.createElement("button");
  button.type = "button";
  button.className = kind;
  button.textContent = kind === "folder" && name !== ".." ? name + "/" : name;
  button.addEventListener("click", act);
  li.append(button);
  return li;
}

async function read(path, size) {
  if (dirty && !confirm("Leave " + open + " without saving?")) return;
  if (size > longest) return say(path + " is too long for the editor");
  try {
    const answer = await ask("GET", path);
    const text = plain(await answer.arrayBuffer());
    if (text === null) return say(path + " is not a text that would stay as it is");
    ends = text.includes("\r\n") ? "\r\n" : "\n";
    $("text").value = text;
    show(path, answer.headers.get("ETag"));
    say("");
  } catch (e) { say(e.message); }
}

// A text area changes what is not UTF-8, and the ends of lines. What could not be written
// back as it was is not opened: null.
function plain(bytes) {
  let text;
  try { text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes); } catch { return null; }
  const rest = text.replaceAll("\r\n", "");
  if (text.includes("\0") || rest.includes("\r") || (rest.includes("\n") && rest.length < text.length)) return null;
  return text;
}

function show(path, etag) {
  open = path; tag = etag; dirty = false;
  $("name").textContent = path || "No file is open";
  for (const id of ["text", "save", "remove"]) $(id).disabled = !path;
}

async function save() {
  if (!open) return;
  try {
    const body = $("text").value.replaceAll("\n", ends);
    const answer = await ask("PUT", open, { body, headers: tag ? { "If-Match": tag } : { "If-None-Match": "*" } });
    tag = answer.headers.get("ETag");
    dirty = false;
    say("saved");
    list(folder);
  } catch (e) { say(e.message); }
}

$("text").addEventListener("input", () => { dirty = true; say("not saved"); });
$("save").addEventListener("click", save);
document.addEventListener("keydown", (e) => { if ((e.ctrlKey || e.metaKey) && e.key === "s") { e.preventDefault(); save(); } });
$("new-file").addEventListener("click", () => {
  const name = prompt("Name of the file");
  if (name) { $("text").value = ""; ends = "\n"; show(join(folder, name), null); say("new"); $("text").focus(); }
});
$("new-folder").addEventListener("click", async () => {
  const name = prompt("Name of the folder");
  if (!name) return;
  try { await ask("POST", join(folder, name), { query: "?make=folder" }); list(folder); } catch (e) { say(e.message); }
});
$("remove").addEventListener("click", async () => {
  if (!open || !confirm("Delete " + open + "?")) return;
  try { await ask("DELETE", open); $("text").value = ""; show(null, null); say("deleted"); list(folder); } catch (e) { say(e.message); }
});
$("reload").addEventListener("click", () => location.reload());
addEventListener("beforeunload", (e) => { if (dirty) e.preventDefault(); });

$("refresh").addEventListener("click", () => list(folder));

// What was typed may have changed files. The list is read again once the terminal has come to
// rest, and when somebody comes back to the page. Nothing typed, nothing asked, and not for
// long: neither a page that is only open nor a program that prints is use of the workspace.
const lasting = 60 * 1000;
let touched = 0, resting = 0;

function rested() {
  clearTimeout(resting);
  resting = setTimeout(() => { if (Date.now() - touched < lasting) refresh(); }, 500);
}

function refresh() { if (touched && !document.hidden) list(folder); }
document.addEventListener("visibilitychange", refresh);
addEventListener("focus", refresh);

// The terminal: a shell that was told that its terminal is dumb, so text and a few
// control characters are all there is.
const screen = $("screen"), printed = $("printed"), keyboard = $("keyboard"), most = 100000;
let socket = null, wait = 500;

function print(text) {
  let shown = printed.textContent;
  for (const c of text.replace(/\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[@-Z\\-_])/g, "")) {
    if (c === "\b") shown = shown.endsWith("\n") ? shown : shown.slice(0, -1);
    else if (c === "\x07" || c === "\0") continue;
    else shown += c;
  }
  shown = shown.replace(/\r+\n/g, "\n").replace(/[^\n]*\r(?!\n)(?=.)/g, "");
  printed.textContent = shown.slice(-most);
  screen.scrollTop = screen.scrollHeight;
}

function connect() {
  socket = new WebSocket((location.protocol === "https:" ? "wss://" : "ws://") + location.host + "/terminal", ["weir.terminal"]);
  socket.binaryType = "arraybuffer";
  const decode = new TextDecoder();
  socket.onopen = () => { wait = 500; $("line").textContent = ""; $("lost").hidden = true; size(); };
  socket.onmessage = (e) => { print(decode.decode(e.data, { stream: true })); rested(); };
  socket.onclose = (e) => {
    const over = e.code === 1000 && e.reason.startsWith("exit "); // the shell alone
    $("line").textContent = over ? "the shell has ended" : "not connected";
    if (!over) $("lost").hidden = false;
    setTimeout(connect, wait);
    wait = Math.min(wait * 2, 15000);
  };
}

function size() {
  const rows = Math.max(5, Math.floor(screen.clientHeight / 19)), cols = Math.max(20, Math.floor(screen.clientWidth / 8));
  if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ rows, cols }));
}

function type(text) {
  if (!text || !socket || socket.readyState !== WebSocket.OPEN) return;
  socket.send(new TextEncoder().encode(text));
  touched = Date.now();
}
const keys = { Backspace: "\x7f", Tab: "\t", Escape: "\x1b", ArrowUp: "\x1b[A", ArrowDown: "\x1b[B", ArrowRight: "\x1b[C", ArrowLeft: "\x1b[D", Delete: "\x1b[3~", Home: "\x1b[H", End: "\x1b[F" };

// A text area that is not seen has the focus: only so a browser lets people compose what
// their keyboard has no key for. Keys that are no text are sent as they are pressed; text is
// sent when the browser has made it, however it did, and so is the end of a line.
keyboard.addEventListener("keydown", (e) => {
  if (e.isComposing || e.keyCode === 229 || e.metaKey || e.altKey) return;
  if (e.ctrlKey && e.key.length === 1) {
    const code = e.key.toUpperCase().charCodeAt(0) - 64;
    if (e.key.toLowerCase() === "c" && getSelection().toString()) return;
    if (e.key.toLowerCase() === "v") return;
    if (code > 0 && code < 32) { e.preventDefault(); type(String.fromCharCode(code)); }
    return;
  }
  if (e.shiftKey && e.key === "Tab") return; // the way out
  if (keys[e.key]) { e.preventDefault(); type(keys[e.key]); }
});

let composing = false;

function flush() {
  const text = keyboard.value;
  keyboard.value = "";
  type(text.replaceAll("\n", "\r"));
}

function compose(on) {
  composing = on;
  keyboard.classList.toggle("composing", on);
}
keyboard.addEventListener("compositionstart", () => compose(true));
keyboard.addEventListener("compositionend", () => { compose(false); flush(); });
keyboard.addEventListener("input", (e) => { if (!composing && !e.isComposing) flush(); });
keyboard.addEventListener("paste", (e) => { e.preventDefault(); type(e.clipboardData.getData("text")); });
// A click is for typing, unless it has marked something.
screen.addEventListener("mouseup", () => { if (!getSelection().toString()) keyboard.focus({ preventScroll: true }); });
addEventListener("resize", size);

async function named() {
  let name = "";
  try {
    const answer = await fetch("/name");
    if (answer.ok) name = (await answer.text()).trim();
  } catch { /* the host will do */ }
  name ||= location.hostname;
  document.title = name + " – workspace";
  $("workspace").textContent = name;
}
named();
list("");
connect();
