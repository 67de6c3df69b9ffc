import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { PersistentVolume } from '../../../src/api/core.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../../src/api/resources.ts';
import { describeAsRoot } from '../../support/root.ts';
import { CSI_DIRECTORIES, startCsiDirectories } from '../control-plane/csi-directories.ts';
import { LOCAL_PATH, startLocalPathProvisioner } from '../control-plane/local-path-provisioner.ts';
import type { Part } from '../part.ts';
import { IMAGE } from './image.ts';
import { FILL, type PopulatorsScene, startPopulatorsScene } from './populators-scene.ts';

/** Timeout in ms: pods are slow on a busy machine. */
jest.setTimeout(240_000);

describeAsRoot('claims with a data source in a class of local-path-provisioner', () => {
  let scene: PopulatorsScene;
  let provisioner: Part;

  beforeAll(async () => {
    scene = await startPopulatorsScene();
    const { client, controlPlane, machine, disk } = scene;
    provisioner = await startLocalPathProvisioner({
      ...{ client, kubeconfig: controlPlane.kubeconfig, folder: machine.folder, image: IMAGE },
      volumes: join(disk.path, 'local-path'),
    });
    const theirs = { provisioner: LOCAL_PATH, parameters: {} };
    await scene.createClass('local-path', { ...theirs, volumeBindingMode: 'WaitForFirstConsumer' });
    const kind = await scene.createKind();
    await kind.register('hello', FILL);
    await kind.source('example', undefined, 'theirs');
  }, 900_000);
  afterAll(async () => {
    await provisioner?.stop();
    await scene?.stop();
  });

  test('get a warning that the provisioner ignored their data source', async () => {
    await scene.createClaim('data', { storageClassName: 'local-path' });
    const mounted = { claim: 'data', mode: 'Filesystem' } as const;
    expect(await scene.pods.run('lists', [mounted], 'ls -A /volumes/data')).toBe('');
    const { volumeName = '' } = (await scene.isBound('data')).spec;
    const pv = await scene.client.get<PersistentVolume>(PERSISTENT_VOLUMES, volumeName);
    expect(pv.metadata.annotations?.['pv.kubernetes.io/provisioned-by']).toBe(LOCAL_PATH);
    await scene.isTold(
      'data',
      `PopulatorCreationError: the claim was bound to PersistentVolume ${volumeName}, which was not filled from Hello example`,
    );
    await scene.isClean();
    await scene.remove(PERSISTENT_VOLUME_CLAIMS, 'data');
    await scene.isEmpty();
  });

  test('stay Pending with a selector, which the provisioner does not support', async () => {
    await scene.createClaim('chooses', {
      storageClassName: 'local-path',
      selector: { matchLabels: { tier: 'fast' } },
    });
    const mounted = { claim: 'chooses', mode: 'Filesystem' } as const;
    await scene.pods.create('waits', [mounted], 'true');
    await scene.isTold('chooses', 'claim.Spec.Selector is not supported');
    await scene.pods.remove('waits');
    await scene.remove(PERSISTENT_VOLUME_CLAIMS, 'chooses');
    await scene.isClean();
  });
});

describeAsRoot("claims with a data source in a class of CSI's external-provisioner", () => {
  let scene: PopulatorsScene;
  let driver: Awaited<ReturnType<typeof startCsiDirectories>>;

  beforeAll(async () => {
    scene = await startPopulatorsScene();
    const { client, controlPlane, machine, disk, node } = scene;
    driver = await startCsiDirectories({
      ...{ client, kubeconfig: controlPlane.kubeconfig, folder: machine.folder, node },
      ...{ volumes: join(disk.path, 'directories'), kubelet: join(machine.folder, 'kubelet') },
    });
    for (const volumeBindingMode of ['WaitForFirstConsumer', 'Immediate'] as const) {
      const theirs = { provisioner: CSI_DIRECTORIES, parameters: {}, volumeBindingMode };
      await scene.createClass(volumeBindingMode.toLowerCase(), theirs);
    }
    const kind = await scene.createKind();
    await kind.register('hello', FILL);
    await kind.source('example', undefined, 'theirs');
  }, 1_500_000);
  afterAll(async () => {
    await driver?.stop();
    await scene?.stop();
  });

  test.each(['WaitForFirstConsumer', 'Immediate'])('are filled: %s', async (mode) => {
    const storageClassName = mode.toLowerCase();
    await scene.createClaim('data', { storageClassName });
    const mounted = { claim: 'data', mode: 'Filesystem' } as const;
    expect(await scene.pods.run('reads', [mounted], 'cat /volumes/data/hello.txt')).toBe(
      'theirs\n',
    );
    const { volumeName = '' } = (await scene.isBound('data')).spec;
    const pv = await scene.client.get<PersistentVolume>(PERSISTENT_VOLUMES, volumeName);
    expect(pv.metadata.annotations?.['pv.kubernetes.io/provisioned-by']).toBe(CSI_DIRECTORIES);
    expect(await scene.eventsOf('data')).toContainEqual(
      expect.stringContaining('PopulatorFinished'),
    );
    await scene.isClean();
    await scene.remove(PERSISTENT_VOLUME_CLAIMS, 'data');
    await scene.isEmpty();
  });
});
