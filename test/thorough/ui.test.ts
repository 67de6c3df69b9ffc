import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { ALL_CRDS } from '../../src/api/crds.ts';
import { EVENTS, VOLUME_SNAPSHOTS, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { connect } from '../../src/kube/connect.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { freePorts } from '../support/free-ports.ts';
import { describeAsRoot } from '../support/root.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { excessWidth, show, startUiPages, type UiPages, violationsOn } from '../support/ui-page.ts';
import { createUiWorld } from '../support/ui-world.ts';
import { volumeNamed } from '../support/volumes.ts';

/** The page of `stowage ui` in Debian's Chromium, against a sandbox in memory. */

const LONG = `v${'-long'.repeat(40)}`;
const MARKUP = '<img src=x onerror=alert(1)><script>alert(2)</script>';
/** The character reverses the order of the text that follows it. */
const HOSTILE = `${MARKUP} \u202etxt.exe`;

describeAsRoot('The page of stowage ui', () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let sandbox: Sandbox;
  let port = 0;
  let client: KubeClient;
  let pages: UiPages;
  /** Page with the security policy. */
  let first: Page;

  const kubeconfig = () => join(folder.path, 'kubeconfig');

  /** Starts the API server on its port, without objects. */
  async function startApiServer(): Promise<void> {
    // Without the gate, claims lose references to other namespaces.
    const featureGates = { CrossNamespaceVolumeDataSource: true };
    sandbox = await startSandbox({ port, crds: ALL_CRDS, featureGates });
    await writeFile(kubeconfig(), sandbox.kubeconfig, { mode: 0o600 });
    ({ client } = await connect({ kubeconfig: kubeconfig() }));
  }

  async function createVolume(name: string, status?: Volume['status']): Promise<void> {
    const { metadata: _, ...volume } = volumeNamed(name);
    await client.create(VOLUMES, { ...volume, metadata: { name } });
    if (status !== undefined) {
      await client.patch(VOLUMES, name, { status }, { subresource: 'status' });
    }
  }

  beforeAll(async () => {
    folder = await temporaryDirectory('ui-page');
    [port = 0] = await freePorts(1);
    await startApiServer();
    await createUiWorld(client);
    for (let index = 0; index < 300; index += 1) await createVolume(`many-${index}`);
    const [closed] = await freePorts(1);
    await writeFile(
      join(folder.path, 'ssh-config'),
      `Host *\n  HostName 127.0.0.1\n  Port ${closed}\n`,
    );
    pages = await startUiPages({
      KUBECONFIG: kubeconfig(),
      // No node answers: the ssh configuration leads to a closed port.
      STOWAGE_SSH_CONFIG: join(folder.path, 'ssh-config'),
    });
    first = await open(pages.firstUrl);
  });
  afterAll(async () => {
    await pages?.stop();
    await sandbox?.stop();
    await folder?.remove();
  });
  afterEach(() => expect(pages.problems.splice(0)).toEqual([]));

  /** Opens a URL in a context of its own, as in another browser. */
  async function open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await pages.context(options)).newPage();
    await page.goto(url);
    return page;
  }

  /** Presses Tab until the focus is on an element with this text. */
  const tabTo = async (text: string) => {
    for (let presses = 0; presses < 60; presses += 1) {
      await first.keyboard.press('Tab');
      const focused = first.locator(':focus');
      if ((await focused.count()) > 0 && (await focused.innerText()).trim() === text) return;
    }
    throw new Error(`the Tab key does not reach ${text}`);
  };

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

  test('loads by the URL, which loses its token at once, without a cookie', async () => {
    await heading(first, 'Overview').waitFor();
    expect(first.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\/$/);
    expect(await first.context().cookies()).toEqual([]);
    await first.getByText(/^Connected to https:\/\/127\.0\.0\.1/).waitFor();
    // The history has no entry with the token, and the key of the tab stays.
    expect(
      await first.evaluate(
        () => (globalThis as unknown as { history: { length: number } }).history.length,
      ),
    ).toBeLessThanOrEqual(2);
    await first.reload();
    await first.getByRole('link', { name: '300 Unknown' }).waitFor();
  });

  test('misses no change while its effects run late, as in a busy tab', async () => {
    const page = await (await pages.context()).newPage();
    await page.addInitScript(() => {
      const later = globalThis.setTimeout;
      Object.assign(globalThis, {
        setTimeout: (run: () => void, ms = 0) => later(run, Math.max(ms, 3000)),
      });
    });
    await page.goto(await pages.newLink(first));
    await page.getByText(/^Connected to/).waitFor();
    await page.context().close();
  });

  test('refuses a token that was used', async () => {
    const page = await open(pages.firstUrl, { bypassCSP: true });
    await heading(page, 'This link is not valid').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(page.url()).not.toContain('token');
    // Another link works in the same tab.
    await page.goto(await pages.newLink(first));
    await heading(page, 'Overview').waitFor();
    expect(page.url()).not.toContain('token');
    await page.context().close();
  });

  test('shows Volumes, and updates them live', async () => {
    await show(first, '#/volumes');
    await heading(first, 'Volumes').waitFor();
    await first.getByRole('searchbox').fill('data');
    await first.getByRole('link', { name: 'data1', exact: true }).waitFor();
    await createVolume('data2');
    await first.getByRole('link', { name: 'data2', exact: true }).waitFor();
    const row = first.getByRole('row', { name: /data2/ });
    await client.patch(
      VOLUMES,
      'data2',
      { status: { phase: 'Failed', conditions: [{ type: 'Ready', status: 'False' }] } },
      { subresource: 'status' },
    );
    await row.getByText('Failed').waitFor();
    await client.delete(VOLUMES, 'data2');
    await row.waitFor({ state: 'detached' });
    await first.getByRole('searchbox').fill('');
  });

  test('draws some rows of many, and names the number of all', async () => {
    const table = first.getByRole('table', { name: 'Volumes' });
    expect(await table.getAttribute('aria-rowcount')).toBe('302');
    expect(await table.getByRole('row').count()).toBeLessThan(100);
    await first.evaluate(() => {
      const page = globalThis as unknown as {
        scrollTo(x: number, y: number): void;
        document: { body: { scrollHeight: number } };
      };
      page.scrollTo(0, page.document.body.scrollHeight);
    });
    const last = first.getByRole('link', { name: 'many-99', exact: true });
    await last.waitFor();
    expect(await last.locator('xpath=ancestor::tr').getAttribute('aria-rowindex')).toBe('302');
  });

  test('opens a Volume by keyboard alone, and moves the focus to its heading', async () => {
    await show(first, '#/');
    await heading(first, 'Overview').waitFor();
    await first.evaluate(() => {
      const { document } = globalThis as unknown as {
        document: { activeElement: { blur(): void } };
      };
      document.activeElement.blur();
    });
    await tabTo('Volumes');
    await first.keyboard.press('Enter');
    await heading(first, 'Volumes').waitFor();
    await tabTo('data1');
    await first.keyboard.press('Enter');
    await heading(first, 'data1').waitFor();
    expect(await first.locator(':focus').innerText()).toContain('data1');
    await first.getByText('stowage create volume data1', { exact: false }).first().waitFor();
    await first.getByText('kind: Volume', { exact: false }).waitFor();
    // Reading again is what a change causes.
    await client.patch(VOLUMES, 'data1', {
      metadata: { labels: { changed: 'live' } },
    });
    await first.getByText('changed: live', { exact: false }).waitFor();
  });

  test('goes from a claim to its snapshot and its Volume by keyboard alone', async () => {
    await tabTo('Claims');
    await first.keyboard.press('Enter');
    await heading(first, 'Claims').waitFor();
    expect(await first.locator(':focus').innerText()).toBe('Claims');
    await first.getByText('3 claims').waitFor();
    await tabTo('db/data-0');
    await first.keyboard.press('Enter');
    await heading(first, 'db/data-0').waitFor();
    expect(await first.title()).toBe('db/data-0 · Stowage');
    expect(first.url()).toMatch(/#\/claims\/db\/data-0$/);
    await first.getByText('nothing holds it up', { exact: false }).waitFor();
    await tabTo('db/nightly');
    await first.keyboard.press('Enter');
    await heading(first, 'db/nightly').waitFor();
    expect(await first.locator(':focus').innerText()).toContain('db/nightly');
    await tabTo('data1');
    await first.keyboard.press('Enter');
    await heading(first, 'data1').waitFor();
  });

  test('has a claim that Stowage serves, filtered and sorted, and no foreign one', async () => {
    await show(first, '#/claims');
    const names = () => first.locator('table.rows tbody th').allInnerTexts();
    await first.getByText('3 claims').waitFor();
    expect(await names()).toEqual(['db/data-0', 'web/copy', 'web/new']);
    await first.getByRole('button', { name: 'Claim', exact: false }).first().click();
    expect(await names()).toEqual(['web/new', 'web/copy', 'db/data-0']);
    await first.getByRole('searchbox').fill('DATA1');
    await first.getByText('1 of 3 claims').waitFor();
    expect(await names()).toEqual(['db/data-0']);
    await first.getByRole('searchbox').fill('');
  });

  test('shows a snapshot at once, and grants with their users', async () => {
    await show(first, '#/snapshots');
    await first.getByText('1 snapshot', { exact: true }).waitFor();
    await client.create(
      VOLUME_SNAPSHOTS,
      {
        ...{ apiVersion: 'snapshot.storage.k8s.io/v1', kind: 'VolumeSnapshot' },
        metadata: { namespace: 'db', name: 'live' },
        spec: { source: { persistentVolumeClaimName: 'data-0' } },
      } as never,
      { namespace: 'db' },
    );
    await first.getByRole('link', { name: 'db/live' }).waitFor();
    await client.delete(VOLUME_SNAPSHOTS, 'live', { namespace: 'db' });
    // Its row moves the grants: a click in that moment is lost.
    await first.getByRole('link', { name: 'db/live' }).waitFor({ state: 'detached' });
    const grant = first.getByRole('row', { name: /db\/for-web/ });
    await grant.getByRole('link', { name: 'web/copy' }).click();
    await heading(first, 'web/copy').waitFor();
  });

  test('contacts a node only when its button is pressed, and shows why it failed', async () => {
    const asked: string[] = [];
    first.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await show(first, '#/nodes/n1');
    await first.getByText('KubeletHasNoDiskPressure').waitFor();
    expect(asked.filter((path) => /check|devices/.test(path))).toEqual([]);
    await first.getByRole('button', { name: 'Check the node' }).click();
    const check = first.getByRole('region', { name: 'Check' });
    await check.getByText('1 problem was found.').waitFor();
    await check.getByText('reachable', { exact: false }).first().waitFor();
    await check.getByText(/^read \d+s ago$/).waitFor();
    await first.getByRole('button', { name: 'List the devices' }).click();
    await first.getByText('The devices could not be listed').waitFor();
    expect(asked.filter((path) => /check|devices/.test(path))).toEqual([
      '/api/nodes/n1/check',
      '/api/nodes/n1/devices',
    ]);
  });

  test('reads nothing for a page on another port', async () => {
    let answered = 0;
    const other: Server = createServer((_request, response) => {
      answered += 1;
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>x</title>');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const page = await (await pages.context()).newPage();
    await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
    expect(answered).toBeGreaterThan(0);
    const base = pages.firstUrl.replace(/\/#.*/, '');
    const results = await page.evaluate(async (base) => {
      const attempt = async (path: string, init: RequestInit) => {
        try {
          const { status, type } = await fetch(`${base}${path}`, init);
          return `${type} ${status}`;
        } catch {
          return 'refused';
        }
      };
      return Promise.all([
        attempt('/', {}),
        attempt('/page.mjs', { mode: 'no-cors' }),
        attempt('/api/feed', { headers: { 'x-stowage-key': 'x' } }),
        attempt('/api/session', { method: 'POST', mode: 'no-cors', body: '{}' }),
      ]);
    }, base);
    await page.context().close();
    other.close();
    other.closeAllConnections();
    expect(results).toEqual(['refused', 'refused', 'refused', 'refused']);
    // Chromium reports each refusal.
    const reports = pages.problems.splice(0);
    expect(
      reports.filter((text) => !/CORS policy|ERR_(FAILED|BLOCKED_BY_RESPONSE)/.test(text)),
    ).toEqual([]);
  });

  describe('with hostile names and messages', () => {
    beforeAll(async () => {
      const condition = { type: 'Ready', status: 'False', reason: 'Failed', message: HOSTILE };
      await createVolume(LONG, {
        phase: 'Failed',
        conditions: [condition as never],
        attachments: [
          {
            ...{ node: 'n1', state: 'Attached', safeToMount: true, safeToDetach: false },
            ...{ pods: [HOSTILE], since: '2030-01-01T00:00:00Z', message: HOSTILE },
          },
        ],
      });
      const { metadata } = await client.get(VOLUMES, LONG);
      await client.create(
        EVENTS,
        {
          ...{ apiVersion: 'v1', kind: 'Event', metadata: { name: 'hostile' } },
          involvedObject: { kind: 'Volume', name: LONG, uid: metadata.uid },
          ...{ type: 'Warning', reason: MARKUP, message: HOSTILE },
          lastTimestamp: '2030-01-01T00:00:00Z',
        } as never,
        { namespace: 'default' },
      );
    });

    test('executes nothing, and adds no element', async () => {
      await show(first, `#/volumes/${LONG}`);
      await heading(first, LONG).waitFor();
      await first.getByText(MARKUP, { exact: false }).first().waitFor();
      await first.getByRole('region', { name: 'Timeline' }).waitFor();
      expect(
        await first.locator('img, iframe, object, script:not([src="/page.mjs"])').count(),
      ).toBe(0);
      expect(await first.locator('body').innerText()).not.toContain('\u202e');
      await show(first, '#/');
      await first.getByRole('button', { name: 'Find causes' }).click();
      await first.getByText(MARKUP, { exact: false }).first().waitFor();
      expect(
        await first.locator('img, iframe, object, script:not([src="/page.mjs"])').count(),
      ).toBe(0);
    });

    describe.each<[string, BrowserContextOptions]>([
      ['light', { colorScheme: 'light' }],
      ['dark', { colorScheme: 'dark' }],
      ['narrow', { colorScheme: 'light', viewport: { width: 360, height: 740 } }],
    ])('and in %s', (_name, options) => {
      let page: Page;
      beforeAll(async () => {
        // axe-core is injected, which the page's policy forbids.
        page = await open(await pages.newLink(first), { ...options, bypassCSP: true });
        await heading(page, 'Overview').waitFor();
      });
      afterAll(() => page?.context().close());

      test.each([
        ['#/', 'Overview', /^Connected/],
        ['#/volumes', 'Volumes', /30[23] Volumes/],
        ['#/volumes?phase=Pending', 'Volumes', /No Volume matches/],
        [`#/volumes/${LONG}`, LONG, /apiVersion/],
        ['#/volumes/none', 'none', /There is no such Volume/],
        ['#/volumes/data1', 'data1', /No snapshot|db\/nightly/],
        ['#/nodes', 'Nodes', /2 nodes/],
        ['#/nodes/n1', 'n1', /KubeletHasNoDiskPressure/],
        ['#/nodes/n2', 'n2', /is paused/],
        ['#/nodes/none', 'none', /There is no such node/],
        ['#/claims', 'Claims', /3 claims/],
        ['#/claims/db/data-0', 'db/data-0', /As stowage describe pvc/],
        ['#/claims/web/new', 'web/new', /SourceMissing/],
        ['#/claims/db/none', 'db/none', /There is no such claim/],
        ['#/snapshots', 'Snapshots and grants', /1 grant/],
        ['#/snapshots/db/nightly', 'db/nightly', /As stowage describe snapshot/],
        ['#/populators', 'Populators', /1 populator/],
        ['#/attachments', 'Attachments', /[12] attachment/],
        ['#/nowhere', 'There is no such screen', /Go to the/],
      ])(
        'axe-core finds no violation on %s, and nothing is wider than the window',
        async (hash, title, text) => {
          await show(page, hash);
          await heading(page, title).waitFor();
          await page.getByText(text).first().waitFor();
          if (hash === '#/') {
            await page.getByRole('button', { name: 'Find causes' }).click();
            await page.getByText('Fix:').first().waitFor();
          }
          if (hash === '#/nodes/n1') {
            await page.getByRole('button', { name: 'Check the node' }).click();
            await page.getByText('1 problem was found.').waitFor();
          }
          expect(await violationsOn(page)).toEqual([]);
          expect(await excessWidth(page)).toBe(0);
        },
      );
    });
  });

  test('shows that the API server is away, and recovers', async () => {
    const others: Page[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open(await pages.newLink(first), { colorScheme, bypassCSP: true });
      await heading(page, 'Overview').waitFor();
      others.push(page);
    }
    await show(first, '#/volumes');
    await first.getByText(/^Connected/).waitFor();
    await sandbox.stop();
    for (const page of others) {
      await page.getByText(/The API server has not answered since/).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.context().close();
    }
    await first.getByText(/The API server has not answered since/).waitFor();
    // The last known state stays.
    await first.getByRole('link', { name: 'data1', exact: true }).waitFor();
    await startApiServer();
    await createVolume('after-restart');
    await first.getByText(/^Connected/).waitFor({ timeout: 120_000 });
    await first.getByRole('link', { name: 'after-restart' }).waitFor({ timeout: 120_000 });
    await first
      .getByRole('link', { name: 'data1', exact: true })
      .waitFor({ state: 'detached', timeout: 120_000 });
  });

  test('shows what changed while the machine slept, and its connections ended', async () => {
    await show(first, '#/volumes');
    await first.getByRole('link', { name: 'after-restart' }).waitFor();
    const devtools = await first.context().newCDPSession(first);
    const wake = pages.sleep();
    await devtools.send('Page.setWebLifecycleState', { state: 'frozen' });
    await sandbox.stop();
    await startApiServer();
    await createVolume('while-asleep');
    wake();
    await devtools.send('Page.setWebLifecycleState', { state: 'active' });
    await first.getByRole('link', { name: 'while-asleep' }).waitFor({ timeout: 120_000 });
    await first.getByRole('link', { name: 'after-restart' }).waitFor({ state: 'detached' });
    await first.getByText(/^Connected/).waitFor();
  });
});
