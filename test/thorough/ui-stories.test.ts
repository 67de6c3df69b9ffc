import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { Page } from 'playwright-core';
import type { PersistentVolume } from '../../src/api/core.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../src/api/resources.ts';
import { type Disk, makeDisk } from '../support/disks.ts';
import { describeAsRoot } from '../support/root.ts';
import { claimNamed, fresh } from '../support/snapshots.ts';
import { dialogOf, show, startUiPages, type UiPages } from '../support/ui-page.ts';
import { until } from '../support/until.ts';
import { startVolumeScene, type VolumeScene } from '../support/volume-scene.ts';

/**
 * The user stories of MetalK8s's specification (docs/specs.md) on the page of `stowage ui`, with a
 * daemon that provisions loop devices on this machine over ssh.
 */

const DISK_BYTES = 64n << 20n;
/** Time (ms) within which a node provisions, also on a busy machine. */
const PROVISIONED = { timeout: 180_000 };

describeAsRoot('A user of the page', () => {
  let scene: VolumeScene;
  let pages: UiPages;
  let page: Page;
  let disk: Disk | undefined;

  beforeAll(async () => {
    scene = await startVolumeScene();
    pages = await startUiPages(scene.env);
    page = await pages.open('#/volumes');
  });
  afterAll(async () => {
    await pages?.stop();
    for (const name of ['story-file', 'story-disk']) {
      const volume = await scene.get(name).catch(() => undefined);
      if (volume !== undefined) await scene.remove(volume);
    }
    // The directory of the scene has the file of the disk.
    await disk?.remove();
    await scene?.stop();
  });
  afterEach(() => expect(pages.problems.splice(0)).toEqual([]));

  const heading = (name: string) => page.getByRole('heading', { level: 1, name });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const inDialog = (name: string) => dialogOf(page).getByRole('button', { name, exact: true });
  const field = (label: string) => dialogOf(page).getByLabel(label, { exact: true });
  const row = (name: string) => page.getByRole('row', { name: new RegExp(name) });

  async function openCreation(name: string, type: string): Promise<void> {
    await show(page, '#/volumes');
    await heading('Volumes').waitFor();
    await button('Create a Volume').click();
    await field('Name').fill(name);
    await field('Node').fill('n1');
    await field('Type').selectOption(type);
    await field('Storage class').fill('local');
  }

  test('creates a sparse volume by its size, and monitors it until it is ready', async () => {
    await openCreation('story-file', 'sparse');
    await field('Size').fill('64Mi');
    await inDialog('Show the plan').click();
    // The plan is that of the node.
    await dialogOf(page).getByRole('region', { name: 'Steps on the node' }).waitFor();
    await inDialog('Create').click();
    await dialogOf(page).getByText('Volume story-file: ').waitFor();
    await dialogOf(page).getByText('The Volume is ready.').waitFor(PROVISIONED);
    await dialogOf(page).getByText('Volume story-file: Available').waitFor();
    await dialogOf(page).getByRole('link', { name: 'story-file' }).click();
    await heading('story-file').waitFor();
  });

  test('creates a volume on a device, whose content is overwritten only with consent', async () => {
    disk = await makeDisk(scene.folder, 'story', DISK_BYTES);
    await execa('mkfs.ext4', ['-q', disk.path]);
    const { stdout: uuid } = await execa('blkid', ['-p', '-s', 'UUID', '-o', 'value', disk.path]);
    await openCreation('story-disk', 'raw');
    // A wizard offers no loop devices, so the path is typed.
    await field('Device').fill(disk.path);
    await inDialog('Show the plan').click();
    await dialogOf(page).getByText('This is refused').waitFor();
    expect(await inDialog('Create').count()).toBe(0);
    await dialogOf(page).getByRole('checkbox').check();
    await dialogOf(page).getByText(`ext4:${uuid}`, { exact: true }).waitFor();
    await inDialog('Plan with overwriting').click();
    await dialogOf(page)
      .getByText(`is overwritten if it is ext4:${uuid}`, { exact: false })
      .waitFor();
    await dialogOf(page).getByRole('textbox').fill('story-disk');
    await inDialog('Create').click();
    await dialogOf(page).getByText('The Volume is ready.').waitFor(PROVISIONED);
    await inDialog('Close').click();
  });

  test('sees why the creation of a volume fails', async () => {
    await openCreation('story-none', 'raw');
    await field('Device').fill('/dev/stowage-story-none');
    await inDialog('Show the plan').click();
    await dialogOf(page).getByText('This is refused').waitFor();
    await dialogOf(page).getByText('/dev/stowage-story-none').first().waitFor();
    await inDialog('Cancel').click();
  });

  test('sees all volumes of a node, with their states and sizes', async () => {
    await show(page, '#/volumes?node=n1');
    await heading('Volumes').waitFor();
    for (const name of ['story-file', 'story-disk']) {
      await row(name).getByText('Available').waitFor(PROVISIONED);
      await row(name).getByText('64Mi').waitFor();
    }
  });

  test('is kept from deleting a volume in use, deletes one, and monitors that', async () => {
    const phase = (wanted: string) =>
      until(`the PersistentVolume is ${wanted}`, async () => {
        const { status } = await scene.client.get<PersistentVolume>(
          PERSISTENT_VOLUMES,
          'story-file',
        );
        return status?.phase === wanted ? true : undefined;
      });
    const spec = { storageClassName: 'local', volumeName: 'story-file' };
    const claim = fresh(claimNamed('story', spec, 'default'));
    claim.spec.resources = { requests: { storage: '1Mi' } };
    await scene.client.create(PERSISTENT_VOLUME_CLAIMS, claim);
    await phase('Bound');
    await show(page, '#/volumes/story-file');
    await heading('story-file').waitFor();
    await button('Delete').click();
    await dialogOf(page).getByText('Volume story-file cannot be deleted').waitFor();
    expect(await inDialog('Delete').count()).toBe(0);
    await inDialog('Cancel').click();

    await scene.client.delete(PERSISTENT_VOLUME_CLAIMS, 'story', { namespace: 'default' });
    await phase('Released');
    await button('Delete').click();
    await dialogOf(page).getByText('is removed with all its data').waitFor();
    await dialogOf(page).getByRole('textbox').fill('story-file');
    await inDialog('Delete').click();
    await dialogOf(page).getByText('The Volume is gone.').waitFor(PROVISIONED);
    await inDialog('Close').click();
    await scene.gone('story-file');
  });
});
