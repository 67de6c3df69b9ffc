import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { ALL_CRDS } from '../../src/api/crds.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import {
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { ReferenceGrant } from '../../src/api/snapshot.ts';
import type { Volume } from '../../src/api/volume.ts';
import { connect } from '../../src/kube/connect.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { nodeNamed } from '../support/cluster-objects.ts';
import { FORBIDDEN, type ReadOnlyProxy, startReadOnlyProxy } from '../support/read-only-proxy.ts';
import { describeAsRoot } from '../support/root.ts';
import { CONTENT, claimNamed, fresh, SNAPSHOT } from '../support/snapshots.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import {
  dialogOf,
  excessWidth,
  show,
  startUiPages,
  type UiPages,
  violationsOn,
} from '../support/ui-page.ts';
import { until } from '../support/until.ts';
import { classNamed, onNode, volumeNamed } from '../support/volumes.ts';

/** Actions on the page of `stowage ui`, in Debian's Chromium, against a sandbox without nodes. */

describeAsRoot('An action on the page of stowage ui', () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let sandbox: Sandbox;
  let client: KubeClient;
  let pages: UiPages;
  let page: Page;

  async function createVolume(name: string, status?: Volume['status']): Promise<Volume> {
    const { metadata: _, ...volume } = volumeNamed(name);
    const made = await client.create(VOLUMES, { ...volume, metadata: { name } });
    if (status !== undefined)
      await client.patch(VOLUMES, name, { status }, { subresource: 'status' });
    return made as Volume;
  }

  const exists = (name: string): Promise<boolean> =>
    client.get(VOLUMES, name).then(
      () => true,
      (error: unknown) => (isNotFound(error) ? false : Promise.reject(error)),
    );

  beforeAll(async () => {
    folder = await temporaryDirectory('ui-actions');
    sandbox = await startSandbox({
      crds: ALL_CRDS,
      featureGates: { CrossNamespaceVolumeDataSource: true },
    });
    const kubeconfig = join(folder.path, 'kubeconfig');
    await writeFile(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
    ({ client } = await connect({ kubeconfig }));
    await client.create(NODES, nodeNamed('n1'));
    for (const name of ['prod', 'test'])
      await client.create<KubeObject>(NAMESPACES, {
        ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      });
    await client.create<KubeObject>(STORAGE_CLASSES, classNamed('local'));
    await client.create<KubeObject>(
      STORAGE_CLASSES,
      classNamed('fast', {
        provisioner: 'volume.stowage.dev',
        parameters: { type: 'sparse', fsType: 'xfs' },
      }),
    );
    await client.create<KubeObject>(PERSISTENT_VOLUME_CLAIMS, fresh(claimNamed('foo', {}, 'prod')));
    for (const [resource, made] of [
      [VOLUME_SNAPSHOTS, SNAPSHOT],
      [VOLUME_SNAPSHOT_CONTENTS, CONTENT],
    ] as const) {
      const { metadata } = await client.create<KubeObject>(resource, fresh(made));
      const { namespace } = metadata;
      const status = made.status ?? {};
      await client.patch(resource, metadata.name, { status }, { namespace, subresource: 'status' });
    }
    await createVolume('unprepared', { phase: 'Failed' });
    const used = await createVolume('used', { phase: 'Available' });
    await client.create<KubeObject>(PERSISTENT_VOLUMES, {
      ...{ apiVersion: 'v1', kind: 'PersistentVolume' },
      metadata: {
        name: 'used',
        ownerReferences: [
          {
            ...{ apiVersion: used.apiVersion, kind: 'Volume', name: 'used' },
            uid: used.metadata.uid ?? '',
          },
        ],
      },
      ...({
        spec: {
          ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
          ...{ local: { path: '/mnt' }, nodeAffinity: onNode('n1'), storageClassName: 'fast' },
          claimRef: { namespace: 'prod', name: 'foo' },
        },
      } as object),
    });
    await client.patch(
      PERSISTENT_VOLUMES,
      'used',
      { status: { phase: 'Bound' } },
      { subresource: 'status' },
    );
    pages = await startUiPages({ KUBECONFIG: kubeconfig, HOME: folder.path });
    page = await pages.open('#/volumes');
  });
  afterAll(async () => {
    await pages?.stop();
    await sandbox?.stop();
    await folder?.remove();
  });
  afterEach(() => expect(pages.problems.splice(0)).toEqual([]));

  const heading = (name: string) => page.getByRole('heading', { level: 1, name });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const inDialog = (name: string) => dialogOf(page).getByRole('button', { name, exact: true });

  /** Fills fields of the dialog by their labels. */
  async function fill(values: Readonly<Record<string, string>>): Promise<void> {
    for (const [label, value] of Object.entries(values))
      await dialogOf(page).getByLabel(label, { exact: true }).fill(value);
  }

  test('creates a Volume by keyboard alone, after a plan', async () => {
    await heading('Volumes').waitFor();
    await until('the rights', async () =>
      (await button('Create a Volume').getAttribute('aria-disabled')) === 'false'
        ? true
        : undefined,
    );
    await button('Create a Volume').focus();
    await page.keyboard.press('Enter');
    await dialogOf(page).waitFor();
    // The first field has the focus.
    await page.keyboard.type('made');
    await page.keyboard.press('Tab');
    await page.keyboard.type('n1');
    await fill({ Size: '-1' });
    await fill({ 'Storage class': 'local' });
    await page.keyboard.press('Enter');
    await dialogOf(page).getByText('Write a size such as').waitFor();
    expect(await page.locator(':focus').getAttribute('id')).toBe('f-size');
    await fill({ Size: '1Gi' });
    await page.keyboard.press('Enter');
    // Nothing is sent before the plan is confirmed. No node answers here.
    await dialogOf(page).getByText('The steps on the node are not known').waitFor();
    await dialogOf(page).getByText('Creates Volume made').waitFor();
    await dialogOf(page)
      .getByText('stowage create volume made --node n1 --type sparse --size 1Gi')
      .waitFor();
    expect(await exists('made')).toBe(false);
    await inDialog('Create').focus();
    await page.keyboard.press('Enter');
    await dialogOf(page).getByText('Creating the Volume…').waitFor();
    await until('the Volume', async () => ((await exists('made')) ? true : undefined));
    // Escape does not close a dialog while its action runs.
    await page.keyboard.press('Escape');
    await dialogOf(page).getByText('Volume made: Unknown').waitFor();
    await client.patch(
      VOLUMES,
      'made',
      {
        status: {
          phase: 'Available',
          conditions: [{ type: 'Ready', status: 'True', reason: 'Ready' }],
        },
      },
      { subresource: 'status' },
    );
    await dialogOf(page).getByText('The Volume is ready.').waitFor();
    // The focus is on the result, and returns to the button.
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Result');
    await page.keyboard.press('Escape');
    await dialogOf(page).waitFor({ state: 'detached' });
    expect(await page.locator(':focus').innerText()).toBe('Create a Volume');
  });

  test('deletes a Volume once its name is typed', async () => {
    await show(page, '#/volumes/unprepared');
    await heading('unprepared').waitFor();
    await button('Delete').click();
    await dialogOf(page).getByText('is removed with all its data').waitFor();
    await dialogOf(page).getByText('Deletes Volume unprepared').waitFor();
    const confirm = inDialog('Delete');
    expect(await confirm.getAttribute('aria-disabled')).toBe('true');
    await confirm.click({ force: true });
    const typed = dialogOf(page).getByRole('textbox');
    await typed.fill('unprepare');
    await page.keyboard.press('Enter');
    expect(await exists('unprepared')).toBe(true);
    await typed.fill('unprepared');
    await confirm.dblclick();
    await dialogOf(page).getByText('The Volume is gone.').waitFor();
    await dialogOf(page).getByText('There is no Volume unprepared.').waitFor();
    expect(await exists('unprepared')).toBe(false);
    await inDialog('Close').click();
    await page.getByText('There is no such Volume').waitFor();
    // The button is gone with the Volume, so the heading has the focus.
    expect(await button('Delete').count()).toBe(0);
    expect(await page.locator(':focus').innerText()).toContain('unprepared');
  });

  test('expands a Volume, and names the size that it cannot get', async () => {
    await createVolume('small', { phase: 'Available' });
    await show(page, '#/volumes/small');
    await heading('small').waitFor();
    await button('Expand').click();
    await fill({ 'New size': '1Mi' });
    await inDialog('Show the plan').click();
    await dialogOf(page).getByText('a Volume never shrinks to 1Mi').waitFor();
    expect(await inDialog('Expand').count()).toBe(0);
    await inDialog('Back').click();
    await fill({ 'New size': '2Gi' });
    await inDialog('Show the plan').click();
    await dialogOf(page).getByText('Changes Volume small').waitFor();
    await inDialog('Expand').click();
    await until('the size', async () => {
      const { spec } = await client.get<Volume>(VOLUMES, 'small');
      return spec.sparseLoopDevice?.size === '2Gi' ? true : undefined;
    });
    // The command waits for a daemon, and goes on without the dialog.
    await inDialog('Leave it running').click();
    await dialogOf(page).waitFor({ state: 'detached' });
  });

  test.each([
    ['Volume', VOLUMES, 'used', '#/volumes/used'],
    ['Node', NODES, 'n1', '#/nodes/n1'],
  ] as const)('pauses a %s by keyboard, and resumes it', async (kind, resource, name, hash) => {
    const value = async () => {
      const { metadata } = await client.get<KubeObject>(resource, name);
      return metadata.annotations?.['stowage.dev/paused'];
    };
    await show(page, hash);
    await heading(name).waitFor();
    for (const [text, done, after] of [
      ['Pause', /is paused/, 'true'],
      ['Resume', /no longer paused/, undefined],
    ] as const) {
      await until('the button', async () =>
        (await button(text).count()) > 0 &&
        (await button(text).getAttribute('aria-disabled')) === 'false'
          ? true
          : undefined,
      );
      await button(text).focus();
      await page.keyboard.press('Enter');
      await dialogOf(page).getByText(`Changes ${kind} ${name}`).waitFor();
      await inDialog(text).focus();
      await page.keyboard.press('Enter');
      await dialogOf(page).getByText(done).waitFor();
      expect(await value()).toBe(after);
      await inDialog('Close').click();
      await dialogOf(page).waitFor({ state: 'detached' });
      // The button that replaced the other one keeps the focus.
      expect(await page.locator(':focus').evaluate(({ tagName }) => tagName)).toBe('BUTTON');
    }
  });

  test('does not delete a Volume in use, and says why', async () => {
    await show(page, '#/volumes/used');
    await heading('used').waitFor();
    await button('Delete').click();
    await dialogOf(page).getByText('This is refused').waitFor();
    await dialogOf(page).getByText('Volume used cannot be deleted').waitFor();
    expect(await inDialog('Delete').count()).toBe(0);
    await page.keyboard.press('Escape');
    await dialogOf(page).waitFor({ state: 'detached' });
    expect(await page.locator(':focus').innerText()).toBe('Delete');
    expect(await exists('used')).toBe(true);
  });

  test('grants a snapshot, restores it in another namespace, and revokes the grant', async () => {
    await show(page, '#/snapshots');
    await button('Grant a snapshot').click();
    await inDialog('Find choices: VolumeSnapshot').click();
    await dialogOf(page)
      .getByRole('radio', { name: /prod\/foo-backup/ })
      .check();
    await fill({ 'Namespace that may use it': 'test' });
    await inDialog('Show the plan').click();
    await dialogOf(page)
      .getByText(/Creates ReferenceGrant prod\//)
      .waitFor();
    await inDialog('Grant').click();
    await dialogOf(page).getByText('The grant exists.').waitFor();
    await inDialog('Close').click();
    const grants = async () =>
      (await client.list<ReferenceGrant>({ ...REFERENCE_GRANTS, version: 'v1beta1' })).items;
    const [grant] = await grants();
    expect(grant?.metadata.namespace).toBe('prod');

    await show(page, '#/snapshots/prod/foo-backup');
    await heading('prod/foo-backup').waitFor();
    await button('Restore a snapshot').click();
    await fill({ 'New claim': 'test/foo-restored' });
    await inDialog('Show the plan').click();
    await dialogOf(page).getByText('Creates PersistentVolumeClaim test/foo-restored').waitFor();
    await inDialog('Restore').click();
    await dialogOf(page).getByText('The claim is created.').waitFor();
    await inDialog('Close').click();
    const claim = await client.get<KubeObject>(PERSISTENT_VOLUME_CLAIMS, 'foo-restored', {
      namespace: 'test',
    });
    expect(claim).toMatchObject({
      spec: { dataSourceRef: { kind: 'VolumeSnapshot', name: 'foo-backup', namespace: 'prod' } },
    });

    await show(page, '#/snapshots');
    await heading('Snapshots and grants').waitFor();
    await button('Revoke a grant').click();
    await fill({ ReferenceGrant: `prod/${grant?.metadata.name}` });
    await inDialog('Show the plan').click();
    await inDialog('Revoke').click();
    await dialogOf(page)
      .getByText(/The grant is gone/)
      .waitFor();
    await inDialog('Close').click();
    expect(await grants()).toEqual([]);
  });

  test('takes a snapshot of the claim of a Volume', async () => {
    await show(page, '#/volumes/used');
    await page.getByText('prod/foo', { exact: true }).waitFor();
    await button('Take a snapshot').click();
    await fill({ 'New VolumeSnapshot': 'prod/foo-second' });
    await inDialog('Show the plan').click();
    await dialogOf(page).getByText('Creates VolumeSnapshot prod/foo-second').waitFor();
    await inDialog('Take it').click();
    await until('the snapshot', () =>
      client.get(VOLUME_SNAPSHOTS, 'foo-second', { namespace: 'prod' }).catch(() => undefined),
    );
    // The command waits until the snapshot is ready, and goes on without the dialog.
    await inDialog('Leave it running').click();
    await dialogOf(page).waitFor({ state: 'detached' });
  });

  describe.each<[string, BrowserContextOptions]>([
    ['light', { colorScheme: 'light' }],
    ['dark', { colorScheme: 'dark' }],
    ['narrow', { colorScheme: 'light', viewport: { width: 360, height: 740 } }],
  ])('in %s', (scheme, options) => {
    let own: Page;
    beforeAll(async () => {
      own = await pages.open('#/volumes', options);
    });
    afterAll(() => own?.context().close());

    async function check(name: string): Promise<void> {
      expect(await violationsOn(own)).toEqual([]);
      expect(await excessWidth(own)).toBe(0);
      const shots = process.env.STOWAGE_UI_SHOTS;
      if (shots !== undefined) await own.screenshot({ path: join(shots, `${name}-${scheme}.png`) });
    }
    const open = async (hash: string, text: string) => {
      await show(own, hash);
      const opener = own.getByRole('button', { name: text, exact: true });
      await until('the rights', async () =>
        (await opener.getAttribute('aria-disabled')) === 'false' ? true : undefined,
      );
      await opener.click();
      await dialogOf(own).waitFor();
    };
    const close = async () => {
      await own.keyboard.press('Escape');
      await dialogOf(own).waitFor({ state: 'detached' });
    };

    test.each([
      ['Create a Volume', '#/volumes'],
      ['Take a snapshot', '#/claims/prod/foo'],
      ['Expand', '#/volumes/used'],
      ['Restore a snapshot', '#/snapshots'],
      ['Grant a snapshot', '#/snapshots/prod/foo-backup'],
      ['Revoke a grant', '#/snapshots'],
    ])('axe-core finds no violation in the dialog %s', async (text, hash) => {
      await open(hash, text);
      await check(text);
      await close();
    });

    test.each([
      ['Delete', /Plan again/],
      ['Retry', /Plan again|Retry/],
      ['Pause', /^Pause$/],
    ])('nor in the plan of %s', async (text, end) => {
      await open('#/volumes/used', text);
      await dialogOf(own).getByRole('button', { name: end }).first().waitFor();
      await check(`plan-${text}`);
      await close();
    });

    test('nor in the plan of a creation, of a deletion, and in a result', async () => {
      const name = `shown-${scheme}`;
      await createVolume(name, { phase: 'Failed' });
      await open('#/volumes', 'Create a Volume');
      for (const [label, value] of [
        ['Name', 'x'],
        ['Node', 'n1'],
        ['Size', '1Gi'],
        ['Storage class', 'local'],
      ] as const)
        await dialogOf(own).getByLabel(label, { exact: true }).fill(value);
      await dialogOf(own).getByRole('button', { name: 'Find choices: Storage class' }).click();
      await dialogOf(own).getByRole('radio').first().waitFor();
      await check('create-choices');
      await dialogOf(own).getByRole('button', { name: 'Show the plan' }).click();
      await dialogOf(own).getByText('Creates Volume x').waitFor();
      await check('plan-create');
      await close();
      await open(`#/volumes/${name}`, 'Delete');
      await dialogOf(own).getByRole('textbox').fill(name);
      await check('plan-of-a-deletion');
      await dialogOf(own).getByRole('button', { name: 'Delete', exact: true }).click();
      await dialogOf(own).getByText('The Volume is gone.').waitFor();
      await check('result');
      await close();
    });
  });

  describe('for a user who may only read', () => {
    let proxy: ReadOnlyProxy;
    let others: UiPages;
    let own: Page;
    beforeAll(async () => {
      proxy = await startReadOnlyProxy(sandbox.kubeconfig);
      const kubeconfig = join(folder.path, 'reader');
      await writeFile(kubeconfig, proxy.kubeconfig, { mode: 0o600 });
      others = await startUiPages({ KUBECONFIG: kubeconfig, HOME: folder.path });
      own = await others.open('#/volumes/made');
    });
    afterAll(async () => {
      await others?.stop();
      await proxy?.stop();
    });

    test('has no working button, and a reason', async () => {
      const remove = own.getByRole('button', { name: 'Delete', exact: true });
      await own.getByText('You may not delete volumes.').first().waitFor({ state: 'attached' });
      for (const name of ['Delete', 'Retry', 'Take a snapshot']) {
        const each = own.getByRole('button', { name, exact: true });
        expect(await each.getAttribute('aria-disabled')).toBe('true');
        await each.click({ force: true });
      }
      expect(await dialogOf(own).count()).toBe(0);
      expect(await remove.getAttribute('title')).toBe('You may not delete volumes.');
      await show(own, '#/volumes');
      await own.getByText('You may not create volumes.').first().waitFor({ state: 'attached' });
      expect(await violationsOn(own)).toEqual([]);
      expect(proxy.refused).toEqual([]);
    });

    test('gets the refusal of the API server for a forged request', async () => {
      const answer = await own.evaluate(async () => {
        const { sessionStorage } = globalThis as unknown as {
          sessionStorage: { getItem(name: string): string };
        };
        const response = await fetch('/api/plan', {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-stowage-key': sessionStorage.getItem('stowage-key'),
          },
          body: JSON.stringify({ action: 'deleteVolume', name: 'made' }),
        });
        return response.json();
      });
      expect(answer).toMatchObject({
        ...{ plan: '', confirm: '' },
        refusal: { code: 'forbidden', message: expect.stringContaining(FORBIDDEN) },
      });
      expect(proxy.refused).toEqual([expect.stringMatching(/^DELETE .*\/volumes\/made/)]);
      expect(await exists('made')).toBe(true);
    });
  });
});
