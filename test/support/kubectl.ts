import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { execa, execaSync } from 'execa';

/** Returns the minor version of the installed kubectl. */
export function clientMinor(): number {
  const { stdout } = execaSync('kubectl', ['version', '--client', '-o', 'json']);
  const { gitVersion } = (JSON.parse(stdout) as { clientVersion: { gitVersion: string } })
    .clientVersion;
  return Number(/^v1\.(\d+)/.exec(gitVersion)?.[1]);
}

/**
 * Returns functions that run the installed kubectl with its home in a directory. `use` sets the
 * server by a kubeconfig.
 */
export function kubectlIn(folder: string) {
  const environment = () => ({ KUBECONFIG: join(folder, 'config'), HOME: folder });

  /** Runs kubectl with `input` on stdin. Returns both outputs together, as a user sees them. */
  async function kubectl(line: string, input?: object | string) {
    const text = typeof input === 'object' ? JSON.stringify(input) : input;
    const { all, exitCode } = await execa('kubectl', splitArguments(line), {
      env: environment(),
      input: text ?? '',
      all: true,
      reject: false,
      timeout: 120_000,
    });
    return { out: all, exitCode };
  }

  const expectOutput = async (line: string, output: string | RegExp, input?: object | string) => {
    const { out } = await kubectl(line, input);
    if (typeof output === 'string') expect(out).toBe(output);
    else expect(out).toMatch(output);
  };

  return {
    use: ({ kubeconfig }: { kubeconfig: string }) =>
      writeFileSync(join(folder, 'config'), kubeconfig, { mode: 0o600 }),
    kubectl,
    expectOutput,
    applied: (object: object) => expectOutput('apply -f -', / created$/, object),
    /** Starts a kubectl that keeps running, and returns its lines. */
    start(line: string) {
      const child = spawn('kubectl', splitArguments(line), {
        env: { ...process.env, ...environment() },
      });
      const exitCode = new Promise((resolve) => child.once('exit', resolve));
      const stop = () => child.kill();
      return { lines: lines(child.stdout), exitCode, stop };
    },
  };
}

/** Splits a line at spaces outside of single quotes. */
const splitArguments = (line: string) =>
  [...line.matchAll(/(?:'[^']*'|\S)+/g)].map(([argument]) => argument.replaceAll("'", ''));

/** Returns the lines of a stream, one at a time. */
function lines(stream: NodeJS.ReadableStream) {
  const all = (async function* () {
    let rest = '';
    for await (const chunk of stream) {
      const [last = '', ...complete] = `${rest}${chunk}`.split('\n').reverse();
      rest = last;
      yield* complete.reverse();
    }
  })();
  return { next: async () => (await all.next()).value };
}
