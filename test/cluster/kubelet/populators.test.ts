import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Pod } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  POPULATOR_DEFINITIONS,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
  VOLUME_POPULATORS,
} from '../../../src/api/resources.ts';
import { HELLO_POPULATOR, HELLOS, helloReference } from '../../support/hello.ts';
import { describeAsRoot } from '../../support/root.ts';
import { until } from '../../support/until.ts';
import { NAMESPACE } from './pods.ts';
import { FILL, OWN, type PopulatorsScene, startPopulatorsScene } from './populators-scene.ts';

/** Timeout in ms: pods are slow on a busy machine. */
jest.setTimeout(240_000);

describeAsRoot('claims that populators populate, with a real scheduler and a real kubelet', () => {
  let scene: PopulatorsScene;
  let kind: Awaited<ReturnType<PopulatorsScene['createKind']>>;

  beforeAll(async () => {
    scene = await startPopulatorsScene();
    await scene.createNamespace('prod');
    kind = await scene.createKind();
    await scene.createClass('waits', { volumeBindingMode: 'WaitForFirstConsumer' });
    await scene.createClass('immediate');
    await scene.createClass('retain', { reclaimPolicy: 'Retain' });
  }, 600_000);
  afterAll(() => scene?.stop());

  test('a claim with a Hello as data source is populated once all objects exist', async () => {
    const nobody = { apiGroup: 'nobody.example.com', kind: 'Nothing', name: 'x' };
    await scene.createClaim('unknown', { dataSourceRef: nobody });
    await expect(
      scene.createClaim('core', { dataSourceRef: { kind: 'Pod', name: 'x' } }),
    ).rejects.toThrow("must be 'PersistentVolumeClaim' when referencing the default apiGroup");
    const text = 'Hello; $(HOME) "quoted" -- world!';
    await scene.createClaim('early');
    const mounted = { claim: 'early', mode: 'Filesystem' } as const;
    await scene.isTold(
      'unknown',
      'UnrecognizedDataSourceKind: The datasource for this PVC does not match any',
    );
    await scene.isTold('early', 'UnrecognizedDataSourceKind');
    await scene.isTold(
      'early',
      'Provisioning: Assuming an external populator will provision the volume',
    );

    const { exitCode, stdout, stderr } = await kind.register('hello', FILL);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('populatordefinition.stowage.dev/hello registered');
    await scene.isTold(
      'early',
      `PopulatorDataSourceNotFound: Hello ${NAMESPACE}/example does not exist`,
    );
    await kind.source('example', NAMESPACE, text);
    const made = Date.now();
    await scene.isBound('early');
    console.info(`bound ${Date.now() - made} ms after its source was made`);
    expect(
      (await scene.pods.run('reads', [mounted], 'cat /volumes/early/hello.txt')).trimEnd(),
    ).toBe(text);
    await scene.isClean();
    const reasons = (await scene.eventsOf('early')).map((event) => event.split(':')[0]);
    expect(reasons.filter((reason) => reason === 'PopulatorFinished')).toHaveLength(1);
    expect(reasons.filter((reason) => reason === 'UnrecognizedDataSourceKind')).toHaveLength(1);

    const refused = await scene.stowage('unregister', 'populator', 'hello');
    expect(refused.exitCode).toBe(0);
    // A later claim is of mode Block, whose device belongs to root.
    await kind.register('hello', FILL, '--run-as-user', '0');
    await scene.remove(PERSISTENT_VOLUME_CLAIMS, 'early');
    await scene.remove(PERSISTENT_VOLUME_CLAIMS, 'unknown');
    await scene.isEmpty();
  });

  test('the validator reports unknown kinds of data sources, and no others', async () => {
    await scene.client.create(VOLUME_POPULATORS, {
      ...HELLO_POPULATOR,
      metadata: { name: 'theirs' },
      sourceKind: { group: 'theirs.example.com', kind: 'Thing' },
    });
    const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'x' };
    const theirs = { apiGroup: 'theirs.example.com', kind: 'Thing', name: 'x' };
    const nobodys = { apiGroup: 'nobody.example.com', kind: 'Thing', name: 'x' };
    await scene.createClaim('nothing', { dataSourceRef: undefined });
    await scene.createClaim('claim', {
      dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'x' },
    });
    await scene.createClaim('snapshot', { dataSourceRef: snapshot });
    await scene.createClaim('theirs', { dataSourceRef: theirs });
    await scene.createClaim('nobodys', { dataSourceRef: nobodys });
    await scene.isTold('nobodys', 'UnrecognizedDataSourceKind');
    await scene.isTold(
      'theirs',
      'Provisioning: Assuming an external populator will provision the volume',
    );
    await scene.isBound('nothing');
    // Once this event exists, the daemon has observed the earlier claims, too.
    await scene.createClaim('last', { dataSourceRef: nobodys });
    await scene.isTold('last', 'UnrecognizedDataSourceKind');
    for (const name of ['nothing', 'claim', 'snapshot', 'theirs']) {
      expect(
        (await scene.eventsOf(name)).filter((event) => event.startsWith('Unrecognized')),
      ).toEqual([]);
    }
    // A kind that only a VolumePopulator names belongs to another populator.
    const { metadata } = await scene.claimNow('theirs');
    expect(metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
    expect((await scene.client.list(PERSISTENT_VOLUME_CLAIMS, { namespace: OWN })).items).toEqual(
      [],
    );
    await scene.remove(VOLUME_POPULATORS, 'theirs');
    await scene.isTold('theirs', 'UnrecognizedDataSourceKind');
    for (const name of ['nothing', 'claim', 'snapshot', 'theirs', 'nobodys', 'last']) {
      await scene.remove(PERSISTENT_VOLUME_CLAIMS, name);
    }
    await scene.isEmpty();
  });

  test('a Block claim is populated from another namespace after a ReferenceGrant', async () => {
    await kind.source('theirs', 'prod', 'from prod');
    const dataSourceRef = helloReference('theirs', 'prod');
    await scene.createClaim('block', {
      storageClassName: 'waits',
      volumeMode: 'Block',
      dataSourceRef,
    });
    const mounted = { claim: 'block', mode: 'Block' } as const;
    await scene.pods.create('reader', [mounted], 'head -n 1 /volumes/block >/dev/termination-log');
    await scene.isTold('block', "isn't allowed");
    await scene.client.create<KubeObject>({ ...REFERENCE_GRANTS, version: 'v1beta1' }, {
      apiVersion: 'gateway.networking.k8s.io/v1beta1',
      kind: 'ReferenceGrant',
      metadata: { name: 'hellos', namespace: 'prod' },
      spec: {
        from: [{ group: '', kind: 'PersistentVolumeClaim', namespace: NAMESPACE }],
        to: [{ group: HELLOS.group, kind: HELLOS.kind }],
      },
    } as KubeObject);
    const granted = Date.now();
    await scene.isTold('block', 'PopulatorCreated');
    console.info(`begun ${Date.now() - granted} ms after the grant`);
    const { status } = await scene.pods.inPhase('reader', 'Succeeded', 'Failed');
    expect(status?.containerStatuses?.[0]?.state?.terminated?.message?.trimEnd()).toBe('from prod');
    await scene.pods.remove('reader');
    await scene.isClean();
    await scene.remove(PERSISTENT_VOLUME_CLAIMS, 'block');
    await scene.isEmpty();
  });

  test('reports the output of a failed pod, and cleans up after a deleted claim', async () => {
    await kind.register('hello', 'echo "no such mirror: $2" >&2; exit 3');
    await scene.createClaim('fails');
    await scene.isTold('fails', 'exit status 3: no such mirror: Hello; $(HOME)');
    await scene.remove(PERSISTENT_VOLUME_CLAIMS, 'fails');
    await scene.isClean();
    await scene.isEmpty();

    await kind.register('hello', 'sleep infinity');
    await scene.createClaim('mid-way', { storageClassName: 'retain' });
    await until('a populator pod runs', async () => {
      const { items } = await scene.client.list<Pod>(PODS, { namespace: OWN });
      return items.some(({ status }) => status?.phase === 'Running') || undefined;
    });
    const inUse = await scene.stowage('unregister', 'populator', 'hello');
    expect(inUse).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining(`${NAMESPACE}/mid-way`),
    });
    await scene.remove(POPULATOR_DEFINITIONS, 'hello');
    await scene.remove(VOLUME_POPULATORS, 'hello');
    await scene.remove(HELLOS, 'example');
    await scene.remove(STORAGE_CLASSES, 'retain');
    await scene.remove(PERSISTENT_VOLUME_CLAIMS, 'mid-way');
    await scene.isClean();
    await scene.isEmpty();
  });
});
