import { expect, test } from '@jest/globals';
import { BACKUPS } from '../../src/api/builtins/backup.ts';
import type { Resource } from '../../src/api/meta.ts';
import { VERSIONS_OF_REFERENCE_GRANTS } from '../../src/api/reference-grants.ts';
import {
  POPULATOR_DEFINITIONS,
  REFERENCE_GRANTS,
  VOLUME_POPULATORS,
  VOLUME_SNAPSHOT_LINKS,
  VOLUME_SNAPSHOTS,
} from '../../src/api/resources.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { createAbsentCrds } from '../../src/manager/absent-crds.ts';
import { watchGrants } from '../../src/manager/watch-grants.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { memoryLogger } from '../support/logger.ts';
import { refusal } from '../support/refusals.ts';

const CUSTOM: Resource = { ...BACKUPS, group: 'example.com', plural: 'seeds', kind: 'Seed' };

test.each<[string, Resource[], RegExp]>([
  ['snapshots', [VOLUME_SNAPSHOTS], /optional.*--components snapshot-crds$/],
  ['links to them', [VOLUME_SNAPSHOT_LINKS], /optional.*--components snapshot-crds$/],
  ['grants', [REFERENCE_GRANTS], /optional.*--components referencegrant-crd$/],
  ['populators', [VOLUME_POPULATORS], /optional.*--components populator-crds$/],
  ['backups', [BACKUPS], /optional.*--components populator-crds$/],
  ['definitions', [POPULATOR_DEFINITIONS], /^a CRD of this version.*--components crds$/],
  ['other kinds', [CUSTOM], /^waiting for CRDs/],
])('names what installs the CRDs of %s', (_, resources, message) => {
  const logger = memoryLogger();
  createAbsentCrds(logger).report(resources);
  expect(logger.lines.map((line) => line.message)).toEqual([expect.stringMatching(message)]);
});

test('reports each group once, whichever part waits for it', () => {
  const logger = memoryLogger();
  const { report } = createAbsentCrds(logger);
  for (const resources of [
    [VOLUME_SNAPSHOTS],
    [VOLUME_SNAPSHOT_LINKS],
    [VOLUME_POPULATORS],
    [BACKUPS, VOLUME_POPULATORS],
    [CUSTOM],
    [CUSTOM],
    [{ ...CUSTOM, plural: 'others' }],
  ])
    report(resources);
  expect(logger.lines.map(({ fields }) => fields)).toEqual([
    { kinds: ['volumesnapshots.snapshot.storage.k8s.io'] },
    { kinds: ['volumepopulators.populator.storage.k8s.io'] },
    { kinds: ['seeds.example.com'] },
    { kinds: ['others.example.com'] },
  ]);
});

test.each([
  ['all versions', VERSIONS_OF_REFERENCE_GRANTS.map(({ version }) => version), 1],
  ['one of two versions', [VERSIONS_OF_REFERENCE_GRANTS[0]?.version], 0],
])('reports ReferenceGrants if %s are missing', async (_, missing, reports) => {
  const logger = memoryLogger();
  const clock = new FakeClock();
  const client = {
    async list({ version }: Resource) {
      if (missing.includes(version)) throw refusal(404);
      return { items: [] };
    },
  } as unknown as KubeClient;
  const informer = { onChange() {}, start() {}, stop: async () => {} };
  const grants = watchGrants({
    ...{ client, clock, absentCrds: createAbsentCrds(logger) },
    inform: () => informer as never,
  });
  grants.onChange(() => {});
  grants.start();
  await clock.advance(0);
  expect(logger.lines).toHaveLength(reports);
  await grants.stop();
});
