import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { REFERENCE_GRANTS, STORAGE_CLASSES } from '../../../src/api/resources.ts';
import { claimsLeft, isAllGone } from '../../support/all-gone.ts';
import { createClass } from '../../support/claim-objects.ts';
import { leftovers } from '../../support/leftovers.ts';
import { grantNamed } from '../../support/snapshots.ts';
import type { ClaimsScene } from './claims-scene.ts';
import { CREATING, DELETING, type Deleted, missingPairs, type Thing } from './orders.ts';
import { type Mounted, reading, withTerminationLog } from './pods.ts';

const RESTORED: Mounted = { claim: 'restored', mode: 'Filesystem' };
const TO_BACKUP = {
  apiGroup: 'snapshot.storage.k8s.io',
  kind: 'VolumeSnapshot',
  name: 'backup',
};

/**
 * Creates a story in namespaces and with a class of its own. A claim's volume contains a word, and
 * another claim restores from its snapshot.
 */
function storyOf(scene: ClaimsScene, index: number) {
  const { client, claims, directory, devices } = scene;
  const [here, there, name] = [`here-${index}`, `there-${index}`, `order-${index}`] as const;
  const word = randomUUID();
  const pods = scene.podsIn(here);

  const create: Record<Thing, () => Promise<unknown>> = {
    class: () =>
      createClass(client, name, directory, 'ext4', { volumeBindingMode: 'WaitForFirstConsumer' }),
    snapshot: () => claims.createSnapshot(`${there}/backup`, 'data'),
    grant: () =>
      client.create(
        REFERENCE_GRANTS,
        grantNamed(
          'grant',
          {
            from: [{ group: '', kind: 'PersistentVolumeClaim', namespace: here }],
            to: [{ group: TO_BACKUP.apiGroup, kind: TO_BACKUP.kind }],
          },
          { namespace: there },
        ),
        { namespace: there },
      ),
    claim: () =>
      claims.create(`${here}/restored`, {
        storageClassName: name,
        resources: { requests: { storage: '64Mi' } },
        dataSourceRef: { ...TO_BACKUP, namespace: there },
      }),
    pod: () => pods.create('reads', [RESTORED], withTerminationLog(reading(RESTORED))),
  };
  const remove: Record<Deleted, () => Promise<unknown>> = {
    class: () => client.delete(STORAGE_CLASSES, name),
    snapshot: () => claims.removeSnapshot(`${there}/backup`),
    grant: () => client.delete(REFERENCE_GRANTS, 'grant', { namespace: there }),
    claim: () => claims.remove(`${here}/restored`),
    pod: () => pods.remove('holds'),
    source: () => claims.remove(`${there}/data`),
  };

  return {
    create,
    remove,
    word,
    async begin() {
      for (const namespace of [here, there]) await scene.createNamespace(namespace);
      await claims.create(`${there}/data`, {
        storageClassName: 'small',
        resources: { requests: { storage: '64Mi' } },
      });
      const { spec } = await claims.isBound(`${there}/data`);
      const path = await devices.mount(spec.local?.path ?? '', name);
      await writeFile(join(path, 'word'), `${word}\n`);
    },
    /** Returns the output of the pod. */
    read: async () => (await pods.ended('reads')).trimEnd(),
    /** Creates a pod that fails as soon as it no longer finds the word. */
    async hold() {
      const file = `/volumes/${RESTORED.claim}/word`;
      await pods.create(
        'holds',
        [RESTORED],
        `while grep -qx ${word} ${file}; do sleep 0.2; done; exit 1`,
      );
      await pods.inPhase('holds', 'Running');
    },
    isHeld: async () =>
      (await pods.inPhase('holds', 'Running', 'Failed')).status?.phase === 'Running',
  };
}

/** Runs stories in twelve orders concurrently in one cluster, as they mostly wait. */
export function describeOrders(sceneNow: () => ClaimsScene): void {
  describe('whatever is created and deleted first', () => {
    let scene: ClaimsScene;
    let stories: ReturnType<typeof storyOf>[];

    beforeAll(async () => {
      scene = sceneNow();
      await createClass(scene.client, 'small', scene.directory, 'ext4');
      stories = CREATING.map((_, index) => storyOf(scene, index));
      await Promise.all(stories.map((story) => story.begin()));
      await scene.devices.unmount();
    });

    test('each two things come in both orders', () => {
      expect([CREATING.length, missingPairs(CREATING), missingPairs(DELETING)]).toEqual([
        12,
        [],
        [],
      ]);
    });

    /**
     * Waits until the daemon has observed all earlier changes: it then binds a claim that is
     * created now.
     */
    let marks = 0;
    async function isSettled(): Promise<void> {
      const mark = `default/mark-${++marks}` as const;
      await scene.claims.create(mark, {
        storageClassName: 'small',
        resources: { requests: { storage: '64Mi' } },
      });
      await scene.claims.isBound(mark);
      await scene.claims.remove(mark);
    }

    describe('created', () => {
      let words: PromiseSettledResult<string>[];
      beforeAll(async () => {
        for (const step of CREATING[0]?.keys() ?? []) {
          await Promise.all(
            stories.map((story, index) => story.create[CREATING[index]?.[step] as Thing]()),
          );
          await isSettled();
        }
        words = await Promise.allSettled(stories.map((story) => story.read()));
      }, 240_000);
      test.each(CREATING.map((order, index) => [order.join(', '), index] as const))(
        '%s: the pod reads the bytes',
        (_, index) =>
          expect(words[index]).toEqual({ status: 'fulfilled', value: stories[index]?.word }),
      );
    });

    describe('deleted', () => {
      const lost: string[] = [];
      let uids: string[];
      beforeAll(async () => {
        await Promise.all(stories.map((story) => story.hold()));
        uids = (await claimsLeft(scene.client, scene.directory)).flatMap(
          (each) => /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(each)?.[0] ?? [],
        );
        for (const step of DELETING[0]?.keys() ?? []) {
          await Promise.all(
            stories.map((story, index) => story.remove[DELETING[index]?.[step] as Deleted]()),
          );
          await isSettled();
          for (const [index, story] of stories.entries()) {
            const gone = (DELETING[index] ?? []).slice(0, step + 1);
            if (!gone.includes('pod') && !(await story.isHeld()))
              lost.push(`${index}: ${gone.join(', ')}`);
          }
        }
      }, 240_000);
      test('nothing is lost that a pod uses', () => expect(lost).toEqual([]));
      test('nothing is left: no object, file, device, link, record', async () => {
        await isAllGone(scene.client, scene.directory);
        expect(uids.length).toBeGreaterThanOrEqual(3 * stories.length);
        const left = await leftovers({ uids, directories: [scene.directory] });
        expect(left.filter((fault) => uids.some((uid) => fault.includes(uid)))).toEqual([]);
      });
    });
  });
}
