// Starts `fwdsl lsp` and joins the editor to it. All knowledge of programs is in the server.
"use strict";

const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const settings = workspace.getConfiguration("fwdsl");
  const [command, ...args] = settings.get("command");
  client = new LanguageClient(
    "fwdsl",
    "fwdsl",
    { command, args },
    {
      documentSelector: [{ language: "fw" }],
      initializationOptions: { solveSeconds: settings.get("solveSeconds") },
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    // A command that is not there comes as a text, other failures as an Error.
    // Nobody waits for the answer: the extension is active meanwhile.
    void explain([command, ...args].join(" "), error?.message ?? error);
  }
}

async function explain(line, reason) {
  const open = "Open the setting";
  const chosen = await window.showErrorMessage(
    `fwdsl: \`${line}\` does not start (${reason}). ` +
      "Install it with `pip install 'fwdsl[lsp]'`, or name it in the setting `fwdsl.command`.",
    open,
  );
  if (chosen === open) {
    await commands.executeCommand("workbench.action.openSettings", "fwdsl.command");
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart() {
  await stop();
  await start();
}

exports.activate = async (context) => {
  context.subscriptions.push(
    commands.registerCommand("fwdsl.restart", restart),
    workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("fwdsl") && restart()),
  );
  await start();
};

exports.deactivate = stop;
