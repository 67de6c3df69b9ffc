import { tmpdir } from 'node:os';
import { VERSION } from '../../api/version.ts';
import type { Connection } from '../../kube/connect.ts';
import { TOKEN_PARAMETER } from '../../ui/protocol.ts';
import { messageOf } from '../lib/failure.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { printable } from '../lib/output/printable.ts';
import { warningLogger } from '../lib/output/warning-logger.ts';
import { readPackageFile } from '../lib/package-file.ts';
import { createActions } from './actions/actions.ts';
import { ASSETS } from './check-request.ts';
import { startUiServer } from './http-server.ts';
import { createHub } from './hub.ts';
import { joinRuns } from './join-runs.ts';
import { openFile } from './open-file.ts';
import { publicName } from './public-text.ts';
import { writeRedirectFile } from './redirect-file.ts';
import { createRunCommand, type Run } from './run-command.ts';
import { nodeFlagsOf } from './screens/node-flags.ts';
import { createReader } from './screens/reader.ts';
import { createSession, TOKEN_MS } from './session.ts';
import { startSources } from './sources.ts';
import { readVolumeDetail } from './volume-detail.ts';
import { readBlocked } from './why-detail.ts';

/** Maximum Volumes that are read at a time: each takes several requests and a command. */
const MOST_DETAILS = 16;

export interface UiFlags extends GlobalFlags {
  port: number;
  open?: boolean;
}

/** Effects of the command on the machine; a test provides its own. */
export interface UiEffects {
  /** Returns a file of the page, by name. */
  asset(name: string): Promise<Buffer>;
  /** Starts the program that opens a file in a browser. Throws an Error if there is none. */
  openFile(path: string): Promise<void>;
  /** Directory for the file of --open. */
  temporaryDirectory: string;
}

const EFFECTS: UiEffects = {
  asset: async (name) => Buffer.from(await readPackageFile(`dist/ui/${name}`)),
  openFile,
  temporaryDirectory: tmpdir(),
};

/**
 * Serves the page until the signal of `io` aborts. Throws a StowageError if it cannot listen, and
 * an Error if a file of the page is missing.
 * @param run runs other commands in this process
 */
export async function serveUi(
  flags: UiFlags,
  io: Io,
  connection: Connection,
  run: Run,
  effects: UiEffects = EFFECTS,
): Promise<void> {
  const { clock, signal } = io;
  const assets = new Map<string, Buffer>();
  for (const { file } of Object.values(ASSETS)) assets.set(file, await effects.asset(file));
  const session = createSession(clock);
  const runCommand = createRunCommand(run, io, connection, flags);
  const read = createReader({
    client: connection.client,
    io,
    run: runCommand,
    // Nodes that do not answer must not hold up commands that ask none.
    runOnNode: createRunCommand(run, io, connection, flags),
    nodeFlags: () => nodeFlagsOf(io.env),
  });
  const hub = createHub({ server: publicName(connection.server), version: VERSION }, clock);
  const actions = createActions({ run, io, connection, flags });
  let blocked: Promise<object> | undefined;
  /** Removals of files of --open that may still exist. */
  const files = new Set<() => Promise<void>>();

  const server = await startUiServer({
    port: flags.port,
    session,
    hub,
    clock,
    assets,
    read,
    link: () => ({ url: newLink().url, seconds: TOKEN_MS / 1000 }),
    volume: joinRuns(
      MOST_DETAILS,
      (name) => name,
      (name) => readVolumeDetail(name, connection.client, runCommand, flags, signal),
    ),
    blocked() {
      // Several tabs share one run, which reads all kinds.
      blocked ??= readBlocked(runCommand, () => clock.timeOfDay()).finally(() => {
        blocked = undefined;
      });
      return blocked;
    },
    actions,
  });

  function newLink(): { url: string; ended: AbortSignal } {
    const { token, ended } = session.issue();
    return { url: `http://127.0.0.1:${server.port}/#${TOKEN_PARAMETER}=${token}`, ended };
  }

  /** Prints a new URL, and opens it in a browser with --open. */
  async function announce(): Promise<void> {
    const { url, ended } = newLink();
    io.stdout.write(`${url}\n`);
    if (!flags.open) return;
    try {
      const file = await writeRedirectFile(url, effects.temporaryDirectory);
      const remove = async () => {
        await file.remove();
        files.delete(remove);
      };
      files.add(remove);
      // The file is of no use once the token is used, replaced or too old.
      const over = () => void remove();
      clock.sleep(TOKEN_MS, AbortSignal.any([ended, signal])).then(over, over);
      await effects.openFile(file.path);
    } catch (error) {
      const why = printable(messageOf(error));
      io.stderr.write(`note: no browser was opened: ${why}; open the URL yourself\n`);
    }
  }

  const stopSources = startSources(connection.client, hub, clock, warningLogger(io));
  try {
    await announce();
    const again = io.stdin.isTTY ? 'press Enter for another URL, ' : '';
    io.stderr.write(
      `note: the URL works once, within ${TOKEN_MS / 1000} s; ${again}Ctrl-C to end\n`,
    );
    if (io.stdin.isTTY) void announceOnEnter(io, announce);
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  } finally {
    session.end();
    await Promise.all([server.close(), stopSources(), ...[...files].map((remove) => remove())]);
    // Commands end with the same signal, after they have cleaned up.
    await actions.ended();
  }
}

/** Calls `announce` for each line of standard input. Never rejects. */
async function announceOnEnter(
  { stdin, signal }: Pick<Io, 'stdin' | 'signal'>,
  announce: () => Promise<void>,
): Promise<void> {
  try {
    for await (const bytes of stdin) {
      if (signal.aborted) return;
      if (bytes.includes(0x0a)) await announce();
    }
  } catch {
    // Without a terminal, the page asks for other URLs.
  }
}
