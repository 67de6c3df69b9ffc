import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SignalError } from '../../../src/cli/lib/signals.ts';
import { serveUi } from '../../../src/cli/ui/serve.ts';
import { TOKEN_MS } from '../../../src/cli/ui/session.ts';
import { FakeClock, until } from '../../support/fake-clock.ts';
import { fakeIo } from '../../support/fake-io.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  folder = await temporaryDirectory('ui');
});
afterEach(() => folder.remove());

const URL_LINE = /^http:\/\/127\.0\.0\.1:(\d+)\/#token=([\w-]{43})$/;

/** Starts the command with a terminal and a program that opens files. */
async function started(flags: { open?: boolean }, openFails = false) {
  const clock = new FakeClock();
  const ending = new AbortController();
  const { io, outcome } = fakeIo({ clock, signal: ending.signal });
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const opened: string[] = [];
  const connection = await io.connect({});
  const done = serveUi(
    { port: 0, color: true, ...flags },
    { ...io, stdin },
    connection,
    async () => 0,
    {
      asset: async (name) => Buffer.from(name),
      openFile: async (path) => {
        if (openFails) throw new Error('spawn xdg-open ENOENT');
        opened.push(path);
      },
      temporaryDirectory: folder.path,
    },
  );
  const urls = () => outcome.out.split('\n').filter(Boolean);
  await until(() => outcome.err.includes('Ctrl-C'));
  return {
    ...{ clock, outcome, stdin, opened, urls, done },
    async end() {
      ending.abort(new SignalError('SIGINT'));
      await done;
    },
  };
}

/** Exchanges the token of a URL, and returns the status. */
async function exchange(url = ''): Promise<number> {
  const [, port, token] = URL_LINE.exec(url) ?? [];
  const response = await fetch(`http://127.0.0.1:${port}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ token }),
  });
  await response.arrayBuffer();
  return response.status;
}

test('prints a URL that works once, and how to end it; ends with the signal', async () => {
  const { urls, outcome, end } = await started({});
  expect(urls()).toEqual([expect.stringMatching(URL_LINE)]);
  expect(outcome.err).toBe(
    'note: the URL works once, within 60 s; press Enter for another URL, Ctrl-C to end\n',
  );
  const [url] = urls();
  expect(await exchange(url)).toBe(200);
  expect(await exchange(url)).toBe(401);
  await end();
  await expect(exchange(url)).rejects.toThrow();
});

test('a URL is void after 60 s', async () => {
  const { urls, clock, end } = await started({});
  await clock.advance(TOKEN_MS);
  expect(await exchange(urls()[0])).toBe(401);
  await end();
});

test('Enter prints another URL, and voids the one before', async () => {
  const { urls, stdin, end } = await started({});
  stdin.write('\n');
  await until(() => urls().length === 2);
  const [first, second] = urls();
  expect(await exchange(first)).toBe(401);
  expect(await exchange(second)).toBe(200);
  await end();
});

test('--open hands over a private file that leads to the URL', async () => {
  const { urls, opened, end } = await started({ open: true });
  const [path = ''] = opened;
  const text = await readFile(path, 'utf8');
  expect(text).toContain(`<meta http-equiv="refresh" content="0; url=${urls()[0]}">`);
  expect(text).not.toMatch(/<script/);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700);
  await end();
  expect(await readdir(folder.path)).toEqual([]);
});

const isGone = async () => (await readdir(folder.path)).length === 0;

test.each<[string, (scene: Awaited<ReturnType<typeof started>>) => Promise<unknown>]>([
  ['used', ({ urls }) => exchange(urls()[0])],
  ['too old', ({ clock }) => clock.advance(TOKEN_MS)],
])('the file of --open is removed when its URL is %s', async (_why, happens) => {
  const scene = await started({ open: true });
  expect(await isGone()).toBe(false);
  await happens(scene);
  while (!(await isGone())) await new Promise((resolve) => setImmediate(resolve));
  await scene.end();
});

test('the file of --open is removed when another URL is printed', async () => {
  const { stdin, opened, end } = await started({ open: true });
  stdin.write('\n');
  await until(() => opened.length === 2);
  while ((await readdir(folder.path)).length > 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  await expect(stat(opened[1] ?? '')).resolves.toBeDefined();
  await end();
});

test('without a program that opens files, a note says so, and the page is served', async () => {
  const { outcome, urls, end } = await started({ open: true }, true);
  expect(outcome.err).toContain(
    'note: no browser was opened: spawn xdg-open ENOENT; open the URL yourself\n',
  );
  expect(await exchange(urls()[0])).toBe(200);
  await end();
  expect(await isGone()).toBe(true);
});
