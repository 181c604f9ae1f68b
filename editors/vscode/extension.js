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
    window.showErrorMessage(
      `fwdsl: \`${[command, ...args].join(" ")}\` does not start (${error.message}). ` +
        "Install it with `pip install 'fwdsl[lsp]'`, or name it in the setting `fwdsl.command`.",
    );
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
