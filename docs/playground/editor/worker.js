// Runs fwdsl: Pyodide in a worker, so that the page stays responsive and a solve can be ended by ending the worker. Everything is loaded
// from the playground's own folder; NumPy and SciPy only once something is planned or solved.

import { loadPyodide } from "./pyodide/pyodide.mjs";

const here = (name) => new URL(name, import.meta.url).href;
const fetched = async (name) => {
  const found = await fetch(here(name));
  if (!found.ok) throw new Error(`${name} cannot be loaded: ${found.status}`);
  return found;
};

let python, bridge, manifest, numerics;

async function start() {
  manifest = await (await fetched("manifest.json")).json();
  python = await loadPyodide({
    indexURL: here("pyodide/"),
    env: { HOME: "/home/pyodide", FWDSL_JIT: "0" },
    stdout: (line) => console.log(line),
    stderr: (line) => console.warn(line),
  });
  await load(manifest.packages);
  python.FS.writeFile("/home/pyodide/bridge.py", await (await fetched("bridge.py")).text());
  python.FS.chdir("/home/pyodide");
  bridge = python.pyimport("bridge");
  const state = JSON.parse(bridge.answer(JSON.stringify({ action: "state" })));
  postMessage({ kind: "ready", state: { ...state, numerics: manifest.numerics, missing: manifest.missing } });
}

async function load(packages) {
  const failed = [];
  await python.loadPackage(packages, { messageCallback: () => {}, errorCallback: (line) => failed.push(line), checkIntegrity: true });
  if (failed.length) throw new Error(failed.join("\n"));
}

function write(files) {
  python.runPython("import shutil; shutil.rmtree('work', ignore_errors=True)");
  python.FS.mkdirTree("work");
  for (const [name, content] of Object.entries(files)) {
    const folder = name.split("/").slice(0, -1).join("/");
    if (folder) python.FS.mkdirTree(`work/${folder}`);
    python.FS.writeFile(`work/${name}`, content);
  }
}

const started = start().catch((error) => {
  postMessage({ kind: "failed", message: String(error.message ?? error) });
  throw error;
});

onmessage = async ({ data: { id, request, files } }) => {
  try {
    await started;
    if (request.action === "plan" || request.action === "solve") {
      if (manifest.numerics.length && !numerics) postMessage({ kind: "doing", what: `loading ${manifest.numerics.join(" and ")}` });
      numerics ??= load(manifest.numerics);
      await numerics;
      postMessage({ kind: "doing", what: request.action === "plan" ? "planning" : "solving" });
    }
    if (files) write(files);
    const told = bridge.answer(JSON.stringify(request), (progress) => postMessage({ kind: "progress", progress: JSON.parse(progress) }));
    postMessage({ kind: "answer", id, answer: JSON.parse(told) });
  } catch (error) {
    postMessage({ kind: "answer", id, answer: { ok: false, diagnostics: [], html: "", failure: String(error.message ?? error) } });
  }
};
