import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { ALL_CRDS } from '../../src/api/crds.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import { NODES, STORAGE_CLASSES, VOLUMES } from '../../src/api/resources.ts';
import { connect } from '../../src/kube/connect.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { nodeNamed } from '../support/cluster-objects.ts';
import { describeAsRoot } from '../support/root.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { dialogOf, startUiPages, type UiPages } from '../support/ui-page.ts';
import { until } from '../support/until.ts';
import { classNamed } from '../support/volumes.ts';

/** A story on the page of `stowage ui`, in Debian's Chromium, against a sandbox. */

describeAsRoot('A user of the page', () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let sandbox: Sandbox;
  let client: KubeClient;
  let pages: UiPages;
  let page: Page;

  beforeAll(async () => {
    folder = await temporaryDirectory('ui');
    sandbox = await startSandbox({ crds: ALL_CRDS });
    const kubeconfig = join(folder.path, 'kubeconfig');
    await writeFile(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
    ({ client } = await connect({ kubeconfig }));
    await client.create(NODES, nodeNamed('n1'));
    await client.create<KubeObject>(STORAGE_CLASSES, classNamed('local'));
    pages = await startUiPages({ KUBECONFIG: kubeconfig, HOME: folder.path });
    // With the page's security policy, which `pages.open` bypasses.
    page = await (await pages.context()).newPage();
    await page.goto(pages.firstUrl);
  });
  afterAll(async () => {
    await pages?.stop();
    await sandbox?.stop();
    await folder?.remove();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const inDialog = (name: string) => dialogOf(page).getByRole('button', { name, exact: true });
  const existing = () =>
    client.get(VOLUMES, 'story').catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });

  test('creates a Volume, watches it become ready, and deletes it', async () => {
    await page.getByText(/^Connected to/).waitFor();
    await page.getByRole('link', { name: 'Volumes', exact: true }).click();
    await button('Create a Volume').click();
    for (const [label, value] of [
      ['Name', 'story'],
      ['Node', 'n1'],
      ['Size', '1Gi'],
      ['Storage class', 'local'],
    ] as const)
      await dialogOf(page).getByLabel(label, { exact: true }).fill(value);
    await inDialog('Show the plan').click();
    await dialogOf(page).getByText('Creates Volume story').waitFor();
    expect(await existing()).toBeUndefined();
    await inDialog('Create').click();
    await until('the Volume', existing);
    await client.patch(
      VOLUMES,
      'story',
      {
        status: {
          phase: 'Available',
          conditions: [{ type: 'Ready', status: 'True', reason: 'Ready' }],
        },
      },
      { subresource: 'status' },
    );
    await dialogOf(page).getByText('The Volume is ready.').waitFor();
    await inDialog('Close').click();

    await page.getByRole('row', { name: /story/ }).getByText('Available').waitFor();
    await page.getByRole('link', { name: 'story', exact: true }).click();
    await button('Delete').click();
    await dialogOf(page).getByText('is removed with all its data').waitFor();
    await dialogOf(page).getByRole('textbox').fill('story');
    await inDialog('Delete').click();
    await dialogOf(page).getByText('The Volume is gone.').waitFor();
    expect(await existing()).toBeUndefined();
    expect(pages.problems).toEqual([]);
  });
});
