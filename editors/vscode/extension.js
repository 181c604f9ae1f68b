// Starts `fwdsl lsp` and joins the editor to it. All knowledge of programs is in the server.
"use strict";

const { commands, env, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

// A client that shows its failures in the output alone while it starts or stops: why it does not start `explain` says,
// and requests that a stop cuts off are no failures.
class Client extends LanguageClient {
  quiet = true;

  showNotificationMessage(...told) {
    if (!this.quiet) super.showNotificationMessage(...told);
  }
}

let client;
let output;

async function start() {
  const settings = workspace.getConfiguration("fwdsl");
  const [command, ...args] = settings.get("command");
  client = new Client(
    "fwdsl",
    "fwdsl",
    { command, args },
    {
      documentSelector: [{ language: "fw" }],
      initializationOptions: { solveSeconds: settings.get("solveSeconds") },
      outputChannel: output,
    },
  );
  try {
    await client.start();
    client.quiet = false;
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
    // The setting is one of the machine: in a window of another machine it is not among the user's.
    const settings = env.remoteName === undefined ? "openSettings" : "openRemoteSettings";
    await commands.executeCommand(`workbench.action.${settings}`, { query: "fwdsl.command" });
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running !== undefined) running.quiet = true;
  await running?.stop();
}

// One after another: two settings may change at once, and two servers would say everything twice.
let turn = Promise.resolve();

function restart() {
  turn = turn.then(stop).then(start);
  return turn;
}

exports.activate = async (context) => {
  output = window.createOutputChannel("fwdsl");
  context.subscriptions.push(
    output,
    commands.registerCommand("fwdsl.restart", restart),
    workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("fwdsl") && restart()),
  );
  await restart();
};

exports.deactivate = () => turn.then(stop);
