import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import {
  CLUSTER_ROLES,
  CUSTOM_RESOURCE_DEFINITIONS,
  PERSISTENT_VOLUME_CLAIMS,
  POPULATOR_DEFINITIONS,
  VOLUME_POPULATORS,
} from '../../../src/api/resources.ts';
import { sourcesRole } from '../../../src/cli/populators/manifest.ts';
import { readBlocks } from '../../support/documents/page.ts';
import { HELLOS } from '../../support/hello.ts';
import {
  type PopulationCluster,
  startPopulationCluster,
} from '../../support/population-cluster.ts';

let cluster: PopulationCluster;
beforeEach(async () => {
  cluster = await startPopulationCluster({ without: ['Hello'] });
  await cluster.startDaemon();
});
afterEach(() => cluster.stop());

const RESOURCES: Record<string, Resource> = Object.fromEntries(
  [
    CUSTOM_RESOURCE_DEFINITIONS,
    VOLUME_POPULATORS,
    CLUSTER_ROLES,
    POPULATOR_DEFINITIONS,
    HELLOS,
    PERSISTENT_VOLUME_CLAIMS,
  ].map((resource) => [resource.kind, resource]),
);

test('the objects of the example in docs/populators.md fill a claim', async () => {
  const blocks = readBlocks('docs/populators.md');
  const objects = blocks
    .slice(
      0,
      blocks.findIndex(({ heading }) => heading === 'Images'),
    )
    .filter(({ language }) => language === 'yaml')
    .flatMap(({ body }) =>
      parseAllDocuments(body).map((document) => document.toJS() as KubeObject),
    );
  expect(objects.map(({ kind }) => kind)).toEqual(Object.keys(RESOURCES));
  await cluster.createClass('fast');
  for (const object of objects) {
    const resource = RESOURCES[object.kind] as Resource;
    await cluster.client.create(resource, object, {
      namespace: object.metadata.namespace,
      strict: true,
    });
  }
  const definition = objects.find(({ kind }) => kind === POPULATOR_DEFINITIONS.kind);
  const { rules, metadata } = sourcesRole(definition as never) as KubeObject & { rules: unknown };
  expect(objects.find(({ kind }) => kind === CLUSTER_ROLES.kind)).toMatchObject({
    metadata: { name: metadata.name },
    rules,
  });
  const { spec } = await cluster.isBound('greeting');
  expect(cluster.contents.get(spec.volumeName ?? '')).toEqual({ 'hello.txt': 'Hello, world!' });
});
