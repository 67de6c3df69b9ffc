import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SignalError } from '../../../src/cli/lib/signals.ts';
import type { Run } from '../../../src/cli/ui/run-command.ts';
import { serveUi } from '../../../src/cli/ui/serve.ts';
import { TOKEN_MS } from '../../../src/cli/ui/session.ts';
import { FakeClock, until } from '../../support/fake-clock.ts';
import { fakeIo, type World } from '../../support/fake-io.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { volumeNamed } from '../../support/volumes.ts';

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  folder = await temporaryDirectory('ui');
});
afterEach(() => folder.remove());

const URL_LINE = /^http:\/\/127\.0\.0\.1:(\d+)\/#token=([\w-]{43})$/;

/** Starts the command with a terminal and a program that opens files. */
async function started(
  flags: { open?: boolean },
  openFails = false,
  { run = async () => 0, ...world }: World & { run?: Run } = {},
) {
  const clock = new FakeClock();
  const ending = new AbortController();
  const { io, outcome } = fakeIo({ ...world, clock, signal: ending.signal });
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const opened: string[] = [];
  const connection = await io.connect({});
  const done = serveUi({ port: 0, color: true, ...flags }, { ...io, stdin }, connection, run, {
    asset: async (name) => Buffer.from(name),
    openFile: async (path) => {
      if (openFails) throw new Error('spawn xdg-open ENOENT');
      opened.push(path);
    },
    temporaryDirectory: folder.path,
  });
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

/** Exchanges the token of a URL, and returns the response. */
async function exchanged(url = ''): Promise<{ status: number; key?: string }> {
  const [, port, token] = URL_LINE.exec(url) ?? [];
  const response = await fetch(`http://127.0.0.1:${port}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ token }),
  });
  return { ...((await response.json()) as { key?: string }), status: response.status };
}

const exchange = async (url?: string) => (await exchanged(url)).status;

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

test('at most 16 Volumes are read at a time', async () => {
  const names = Array.from({ length: 16 }, (_, index) => `data${index}`);
  const ends: (() => void)[] = [];
  const scene = await started({}, false, {
    objects: Object.fromEntries(names.map((name) => [`volumes/${name}`, volumeNamed(name)])),
    run: async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
      return 0;
    },
  });
  const { origin } = new URL(scene.urls()[0] ?? '');
  const { key = '' } = await exchanged(scene.urls()[0]);
  const read = (name: string) =>
    fetch(`${origin}/api/volumes/${name}`, {
      headers: { 'x-stowage-key': key, connection: 'close' },
    });
  const all = names.map(read);
  const isReading = (name: string) =>
    scene.outcome.requests.some(({ what }) => what === `get volumes/${name}`);
  await until(() => names.every(isReading));
  const refused = await read('data16');
  expect({ status: refused.status, body: await refused.json() }).toMatchObject({
    status: 502,
    body: { error: '16 objects are being read already: retry' },
  });
  const done = Promise.all(all);
  while (await Promise.race([done.then(() => false), new Promise((r) => setImmediate(r, true))]))
    for (const end of ends.splice(0)) end();
  expect((await done).map(({ status }) => status)).toEqual(names.map(() => 200));
  await scene.end();
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
