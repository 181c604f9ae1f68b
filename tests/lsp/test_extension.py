"""The extension of VS Code, run by Node with doubles of the editor and of the client of the protocol."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="there is no Node on this machine")

EXTENSION = Path(__file__).parents[2] / "editors" / "vscode" / "extension.js"

#: What the extension asks of the editor and of clients is written down in `log`; `wait` lets what was begun go on.
DOUBLES = """
const Module = require("module");
const log = [], told = {}, options = {failing: false, choice: undefined};
const wait = () => new Promise(setImmediate);
class LanguageClient {
  constructor(id, name, server, client) { this.client = client; log.push(`make ${server.command}`); }
  async start() {
    log.push("start"); await wait();
    if (options.failing) { this.showNotificationMessage(1, "no connection"); throw "it is not there"; }
  }
  async stop() { log.push("stop"); this.showNotificationMessage(1, "a request was cut off"); await wait(); }
  showNotificationMessage(kind, text) { log.push(`show ${text}`); }
}
const vscode = {
  commands: {
    registerCommand: (name, run) => { told[name] = run; return {}; },
    executeCommand: async (name, given) => { log.push(`${name} ${JSON.stringify(given)}`); },
  },
  env: {remoteName: undefined},
  window: {
    createOutputChannel: () => { log.push("output"); return "the output"; },
    showErrorMessage: async (text) => { log.push(text); return options.choice; },
  },
  workspace: {
    getConfiguration: () => ({get: (name) => ({command: ["fwdsl", "lsp"], solveSeconds: 10})[name]}),
    onDidChangeConfiguration: (run) => { told.changed = () => run({affectsConfiguration: () => true}); return {}; },
  },
};
const load = Module._load;
Module._load = (name, ...given) =>
  name === "vscode" ? vscode : name.startsWith("vscode-languageclient") ? {LanguageClient} : load(name, ...given);
const extension = require(process.argv[1]);
(async () => {
  STEPS
  console.log(JSON.stringify(log));
})();
"""


def run(steps: str) -> list[str]:
    """The lines that are written down while the steps are taken."""
    assert NODE is not None
    script = DOUBLES.replace("STEPS", steps)
    done = subprocess.run(
        [NODE, "-e", script, str(EXTENSION)], capture_output=True, text=True, encoding="utf-8", check=True
    )
    return list(json.loads(done.stdout))


def test_settings_that_change_at_once_leave_one_server() -> None:
    log = run("""
      await extension.activate({subscriptions: []});
      told.changed(); told.changed(); await told["fwdsl.restart"]();
      await extension.deactivate();
    """)
    assert log == ["output", *["make fwdsl", "start", "stop"] * 4]


def test_a_command_that_is_missing_is_told_once() -> None:
    log = run("""
      options.failing = true;
      await extension.activate({subscriptions: []});
      options.failing = false;
      await told["fwdsl.restart"]();
    """)
    assert log[:3] == ["output", "make fwdsl", "start"]
    assert "`fwdsl lsp` does not start (it is not there)" in log[3] and "pip install" in log[3]
    assert log[4:] == ["make fwdsl", "start"]


@pytest.mark.parametrize(("remote", "name"), [("undefined", "openSettings"), ("'ssh'", "openRemoteSettings")])
def test_the_setting_is_shown_where_it_is_found(remote: str, name: str) -> None:
    log = run(f"""
      vscode.env.remoteName = {remote};
      Object.assign(options, {{failing: true, choice: "Open the setting"}});
      await extension.activate({{subscriptions: []}});
      await wait();
    """)
    assert log[-1] == f'workbench.action.{name} {{"query":"fwdsl.command"}}'
