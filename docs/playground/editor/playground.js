// The page: an editor that paints words and findings under a textarea, and buttons whose answers come from the worker.

const $ = (id) => document.getElementById(id);
const text = $("text"), paint = $("paint"), numbers = $("numbers"), offers = $("offers"), result = $("result"), findings = $("findings");

const [words, library] = await Promise.all(["words.json", "examples.json"].map(async (name) => (await fetch(name)).json()));
const kinds = new Map(Object.entries(words).flatMap(([kind, names]) => names.map((name) => [name, kind])));

function el(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// --- the worker -------------------------------------------------------------------------------------------------------

let worker, waiting = new Map(), count = 0, state = null, busy = null;

function boot() {
  state = null;
  say("loading Python and fwdsl", "busy");
  worker = new Worker("worker.js", { type: "module" });
  worker.onerror = (event) => {
    say(event.message ? `the worker cannot start: ${event.message}` : "Python is not on this site: `python -m tools.playground` puts it here", "bad");
  };
  worker.onmessage = ({ data }) => {
    if (data.kind === "ready") {
      state = data.state;
      document.documentElement.dataset.ready = "true";
      idle();
      check();
    } else if (data.kind === "failed") {
      say(`fwdsl cannot be loaded: ${data.message}`, "bad");
    } else if (data.kind === "doing") {
      say(data.what, "busy");
    } else if (data.kind === "progress") {
      const { method, iteration, seconds, gap } = data.progress;
      const at = typeof gap === "number" ? `, relative gap ${gap.toExponential(1)} by its own numbers` : "";
      say(`solving: ${method}, iteration ${iteration}, ${seconds.toFixed(1)} s${at}`, "busy");
    } else {
      waiting.get(data.id)?.(data.answer);
      waiting.delete(data.id);
    }
  };
}

function say(what, kind = "") {
  $("state").textContent = what;
  $("state").className = kind;
}

function idle() {
  busy = null;
  $("stop").disabled = true;
  for (const id of ["plan", "solve"]) $(id).disabled = false;
  if (!state) return;
  const missing = state.missing.length ? `; ${state.missing.join(" and ")} not on this site` : "";
  say(`ready: fwdsl ${state.fwdsl}, Python ${state.python}${missing}`);
}

function ask(request, files) {
  return new Promise((resolve) => {
    waiting.set(++count, resolve);
    worker.postMessage({ id: count, request, files });
  });
}

function stop() {
  worker.terminate();
  const dropped = [...waiting.values()];
  waiting.clear();
  show(el("p", { className: "verdict" }, el("span", { className: "badge warning" }, "stopped"), " Python starts anew; the program is kept."));
  busy = null;
  $("stop").disabled = true;
  for (const id of ["plan", "solve"]) $(id).disabled = false;
  boot();
  for (const drop of dropped) drop(null);
}

// --- painting ---------------------------------------------------------------------------------------------------------

const TOKEN = /(?<comment>#[^\n]*)|(?<string>"(?:[^"\n\\]|\\.)*"?)|(?<number>\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<name>[\p{L}_][\p{L}\p{N}_]*)/gu;
let marks = [], lenses = new Map();

function pieces(line, from) {
  const cuts = new Set([0, line.length]), spans = [];
  for (const found of line.matchAll(TOKEN)) {
    const { comment, string, number, name } = found.groups;
    const kind = comment ? "comment" : string ? "string" : number ? "number" : kinds.get(name) ?? "";
    if (kind) spans.push([found.index, found.index + found[0].length, kind]);
  }
  for (const m of marks) {
    const a = Math.max(0, m.start - from), b = Math.min(line.length, m.end - from);
    if (a < b || (a === b && m.start >= from && m.start <= from + line.length)) spans.push([a, b, m.kind]);
  }
  for (const [a, b] of spans) cuts.add(a).add(b);
  const at = [...cuts].sort((x, y) => x - y);
  return at.slice(1).map((end, i) => {
    const start = at[i], names = spans.filter(([a, b]) => a <= start && end <= b).map((s) => s[2]);
    return names.length ? el("span", { className: names.join(" ") }, line.slice(start, end)) : line.slice(start, end);
  });
}

function draw() {
  const lines = text.value.split("\n"), out = [];
  let from = 0;
  lines.forEach((line, i) => {
    out.push(...pieces(line, from));
    const lens = lenses.get(i + 1);
    if (lens) out.push(el("span", { className: `lens ${lens.severity}` }, lens.message));
    out.push("\n");
    from += line.length + 1;
  });
  paint.replaceChildren(...out);
  numbers.textContent = lines.map((_, i) => i + 1).join("\n") + "\n";
  scroll();
}

function scroll() {
  paint.scrollTop = numbers.scrollTop = text.scrollTop;
  paint.scrollLeft = text.scrollLeft;
}

// Lines and columns of diagnostics count code points from 1.
function offset(line, column) {
  const lines = text.value.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0);
  return before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
}

const range = (span) => [offset(span.line, span.column), offset(span.end_line, span.end_column)];

function mark(diagnostics) {
  marks = [];
  lenses = new Map();
  for (const d of diagnostics) {
    if (!d.span) continue;
    const [start, end] = range(d.span);
    marks.push({ start, end: Math.max(end, start + 1), kind: d.severity === "error" ? "wrong" : "doubtful" });
    if (!lenses.has(d.span.line)) lenses.set(d.span.line, { message: d.message, severity: d.severity });
  }
  draw();
}

// --- answers ----------------------------------------------------------------------------------------------------------

function show(...parts) {
  result.replaceChildren(...parts);
}

function tell(answer) {
  mark(answer.diagnostics);
  findings.replaceChildren();
  const fixes = el("div", { className: "fixes" });
  for (const d of answer.diagnostics) {
    for (const fix of [d.fix, ...d.choices].filter((f) => f?.span)) {
      const button = el("button", { type: "button" }, fix.description);
      button.onclick = () => { replace(...range(fix.span), fix.replacement); check(); };
      fixes.append(button);
    }
    const about = el("button", { type: "button" }, `Explain ${d.code}`);
    about.onclick = () => explain(d.code);
    if (![...fixes.children].some((b) => b.textContent === about.textContent)) fixes.append(about);
  }
  if (fixes.children.length) findings.append(fixes);
  const told = el("div");
  told.innerHTML = answer.html; // made by fwdsl, which escapes what is in it
  findings.append(told);
}

async function explain(code) {
  const found = await ask({ action: "explain", code });
  if (!found) return;
  const dialog = el("dialog", { ariaLabel: code }, el("pre", { className: "told" }, found.text));
  const close = el("button", { type: "button" }, "Close");
  close.onclick = () => dialog.close();
  dialog.append(close);
  dialog.onclose = () => dialog.remove();
  document.body.append(dialog);
  dialog.showModal();
}

function report(answer, label) {
  const frame = el("iframe", { srcdoc: answer.report, title: label, sandbox: "allow-same-origin" });
  frame.onload = themed;
  return frame;
}

// The colours of the site's page around this one, where there is one and its reader chose them.
function themed() {
  const around = parent === window ? null : parent.document.body;
  const theme = ["light", "dark"].includes(around?.dataset.theme) ? around.dataset.theme : "";
  document.documentElement.dataset.theme = theme;
  const inner = result.querySelector("iframe")?.contentDocument?.documentElement;
  if (!inner) return;
  inner.dataset.theme = theme;
  inner.style.background = getComputedStyle(document.body).backgroundColor;
}

if (parent !== window) new MutationObserver(themed).observe(parent.document.body, { attributeFilter: ["data-theme"] });
themed();

function failed(answer) {
  if (answer.missing) {
    const numerical = ["numpy", "scipy"].includes(answer.missing);
    const why = numerical
      ? `This needs ${answer.missing}, which this copy of the site was built without. Checking, formatting, fixing and explaining work; to plan and solve, run fwdsl on your machine.`
      : `This needs the package ${answer.missing}, which is not on this site.`;
    return show(el("p", { className: "verdict" }, el("span", { className: "badge warning" }, "not here")), el("p", {}, why));
  }
  if (answer.limit) return show(el("p", { className: "verdict" }, el("span", { className: "badge warning" }, "too large"), ` ${answer.limit}.`));
  if (answer.failure) {
    return show(el("p", { className: "verdict" }, el("span", { className: "badge error" }, "failed"), " This is a bug of fwdsl; please report it."), el("pre", { className: "told" }, answer.failure));
  }
  const n = answer.diagnostics.filter((d) => d.severity === "error").length;
  show(el("p", { className: "verdict" }, el("span", { className: "badge error" }, "rejected"), ` ${n} ${n === 1 ? "error" : "errors"}: see beneath the program.`));
}

let checks = 0;
async function check(loud = false) {
  if (!state || busy) return;
  const mine = ++checks, asked = text.value;
  const answer = await ask({ action: "check", text: asked });
  if (!answer || mine !== checks || asked !== text.value) return;
  tell(answer);
  if (!loud) return;
  if (!answer.ok) return failed(answer);
  show(el("p", { className: "verdict" }, el("span", { className: "badge good" }, "checked"), " No errors: syntax, names, shapes and convexity are right."));
}

async function work(action) {
  if (busy) return;
  busy = action;
  $("stop").disabled = false;
  for (const id of ["plan", "solve"]) $(id).disabled = true;
  if (state) say(action === "plan" ? "planning" : "solving", "busy");
  const answer = await ask({ action, text: text.value, seconds: Number($("seconds").value) || 20 }, files());
  if (!answer) return;
  idle();
  tell(answer);
  if (!answer.ok) return failed(answer);
  if (action === "plan") {
    return show(el("p", { className: "verdict" }, el("code", {}, answer.method), `: ${answer.why}`), report(answer, "Plan"));
  }
  const s = answer.solution, good = s.status === "optimal";
  const number = (v) => (typeof v === "number" ? Number(v.toPrecision(10)) : v ?? "none");
  const gap = typeof s.relative_gap === "number" ? `certified relative gap ${s.relative_gap.toExponential(1)}` : "no certified gap";
  show(
    el("p", { className: "verdict" }, el("span", { className: `badge ${good ? "good" : "warning"}` }, s.status.replaceAll("_", " ")), ` objective ${number(s.objective)}, ${gap}`),
    el("p", { className: "note" }, `${s.method}, ${s.iterations} ${s.iterations === 1 ? "iteration" : "iterations"}, ${s.time.solve.toFixed(2)} s with uncompiled kernels`),
    report(answer, "Report of the run"),
  );
}

async function format() {
  const answer = await ask({ action: "format", text: text.value });
  if (answer?.ok && answer.text !== text.value) replace(0, text.value.length, answer.text);
  await check();
}

function replace(start, end, by) {
  text.focus();
  text.setSelectionRange(start, end);
  // keeps the browser's undo where it can
  if (!document.execCommand("insertText", false, by)) text.setRangeText(by, start, end, "end");
  changed();
}

// --- completion -------------------------------------------------------------------------------------------------------

let offered = null, chosen = 0;
const points = (s) => [...s].length;
const units = (s, n) => [...s].slice(0, n).join("").length;

async function complete() {
  if (!state || busy) return;
  const asked = text.value, at = text.selectionStart;
  const answer = await ask({ action: "complete", text: asked, offset: points(asked.slice(0, at)) });
  if (!answer?.ok || asked !== text.value || at !== text.selectionStart) return;
  const list = answer.offers.filter((o) => o.text !== asked.slice(units(asked, answer.start), at));
  if (!list.length) return closeOffers();
  offered = { start: units(asked, answer.start), end: units(asked, answer.end), list };
  chosen = 0;
  offers.replaceChildren(...list.map((o, i) => {
    const item = el("li", { role: "option", id: `offer${i}` }, el("span", {}, o.text), el("span", { className: "dim" }, o.detail || o.kind));
    item.onmousedown = (event) => { event.preventDefault(); chosen = i; accept(); };
    return item;
  }));
  const before = asked.slice(0, offered.start).split("\n"), style = getComputedStyle(text);
  const probe = el("span", {}, "0".repeat(50));
  paint.append(probe);
  const width = probe.getBoundingClientRect().width / 50;
  probe.remove();
  const line = parseFloat(style.lineHeight), pad = parseFloat(style.paddingLeft);
  const top = parseFloat(style.paddingTop) + before.length * line - text.scrollTop;
  offers.style.left = `${Math.max(0, Math.min(pad + points(before.at(-1)) * width - text.scrollLeft, text.clientWidth - 240))}px`;
  offers.hidden = false;
  const below = text.clientHeight - top, above = top - line, over = below < 120 && above > below;
  offers.style.maxHeight = `${Math.min(224, (over ? above : below) - 6)}px`;
  offers.style.top = `${over ? above - offers.offsetHeight : top}px`;
  choose(0);
}

function choose(i) {
  chosen = (i + offered.list.length) % offered.list.length;
  [...offers.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === chosen)));
  offers.children[chosen].scrollIntoView({ block: "nearest" });
  text.setAttribute("aria-activedescendant", `offer${chosen}`);
}

function accept() {
  const { start, end, list } = offered, o = list[chosen];
  closeOffers();
  replace(start, end, o.text + (o.call && text.value[end] !== "(" ? "(" : ""));
}

function closeOffers() {
  offered = null;
  offers.hidden = true;
  text.removeAttribute("aria-activedescendant");
}

text.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    work("solve");
  } else if (event.ctrlKey && event.key === " ") {
    event.preventDefault();
    complete();
  } else if (offered) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      choose(chosen + step);
    } else if (event.key === "Enter" || event.key === "Tab") {
      event.preventDefault();
      accept();
    } else if (event.key === "Escape") {
      event.preventDefault();
      closeOffers();
    }
  }
});

// --- files, examples, sharing -----------------------------------------------------------------------------------------

const unpacked = (packed) => Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
const MOST_BYTES = 5e6, MOST_SHARED = 20_000;
let own = new Map(), example = null;

function files() {
  const names = library.examples.find((e) => e.id === example)?.files ?? [];
  return { ...Object.fromEntries(names.map((name) => [name, unpacked(library.files[name])])), ...Object.fromEntries(own) };
}

function listFiles() {
  const parts = Object.entries(files()).map(([name, content]) => {
    const part = el("span", {}, el("code", {}, name), ` ${content.length.toLocaleString("en")} bytes `);
    if (own.has(name)) {
      const drop = el("button", { type: "button", ariaLabel: `Remove ${name}` }, "remove");
      drop.onclick = () => { own.delete(name); listFiles(); };
      part.append(drop);
    }
    return part;
  });
  const input = el("input", { type: "file", multiple: true, hidden: true, id: "upload" });
  input.onchange = async () => {
    for (const file of input.files) {
      if (file.size > MOST_BYTES) show(el("p", {}, `${file.name} is larger than ${MOST_BYTES / 1e6} MB, which is much for a browser.`));
      else own.set(file.name, new Uint8Array(await file.arrayBuffer()));
    }
    listFiles();
  };
  const add = el("button", { type: "button", title: "It stays in this page, and is sent nowhere." }, "Add a file");
  add.onclick = () => input.click();
  $("files").replaceChildren(parts.length ? "Data:" : "No data files.", ...parts, add, input);
}

function open(id) {
  const found = library.examples.find((e) => e.id === id) ?? library.examples[0];
  example = found.id;
  $("example").value = found.id;
  text.value = found.text;
  text.scrollTop = text.scrollLeft = 0;
  findings.replaceChildren();
  show(el("p", { className: "dim" }, "The answer, its certificate and the plan appear here."));
  mark([]);
  listFiles();
  check();
}

const streamed = async (bytes, through) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(through)).arrayBuffer());
const packed = (bytes) => btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(""));

async function share() {
  const given = [...own].filter(([, content]) => content.length <= MOST_SHARED).map(([name, content]) => [name, packed(content)]);
  const content = new TextEncoder().encode(JSON.stringify({ text: text.value, example, files: given }));
  const code = packed(await streamed(content, new CompressionStream("deflate-raw")));
  history.replaceState(null, "", `#p=${code.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`);
  const left = own.size - given.length ? " Files of more than 20 kB are not part of it." : "";
  const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
  show(el("p", { className: "verdict" }, el("span", { className: "badge good" }, "shared"), ` ${copied ? "The address is copied" : "The address above has the program"}: whoever opens it sees this program.${left}`));
}

async function shared() {
  const code = /^#p=([\w-]+)$/.exec(location.hash)?.[1];
  if (!code) return null;
  try {
    const bytes = await streamed(unpacked(code.replaceAll("-", "+").replaceAll("_", "/")), new DecompressionStream("deflate-raw"));
    const found = JSON.parse(new TextDecoder().decode(bytes));
    const files = (found.files ?? []).map(([name, content]) => [`${name}`, unpacked(content)]);
    return typeof found.text === "string" ? { ...found, files } : null;
  } catch {
    return null;
  }
}

async function opened() {
  const found = await shared();
  if (!found) {
    open(location.hash.startsWith("#e=") ? location.hash.slice(3) : "");
    if (location.hash.startsWith("#p=")) show(el("p", { className: "verdict" }, el("span", { className: "badge warning" }, "damaged"), " The address has no program that can be read; this is the first example."));
    return;
  }
  open(found.example);
  own = new Map(found.files);
  text.value = found.text;
  listFiles();
  changed();
}

let later;
function changed() {
  marks = [];
  lenses = new Map();
  draw();
  clearTimeout(later);
  later = setTimeout(check, 350);
}

text.addEventListener("input", (event) => {
  changed();
  const word = /[\p{L}_][\p{L}\p{N}_]+$/u.test(text.value.slice(0, text.selectionStart));
  if (event.inputType === "insertText" && word) complete();
  else closeOffers();
});
text.addEventListener("scroll", () => { scroll(); closeOffers(); });
text.addEventListener("blur", closeOffers);
text.addEventListener("click", closeOffers);
new ResizeObserver(scroll).observe(text);

$("example").append(...library.examples.map((e) => el("option", { value: e.id }, e.title)));
$("example").onchange = () => open($("example").value);
$("check").onclick = () => check(true);
$("plan").onclick = () => work("plan");
$("solve").onclick = () => work("solve");
$("stop").onclick = stop;
$("format").onclick = format;
$("share").onclick = share;
addEventListener("hashchange", opened);

boot();
await opened();
