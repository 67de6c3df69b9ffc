import { expect, test } from '@jest/globals';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../src/api/resources.ts';
import type { Definition } from '../../../src/cli/install/crd.ts';
import { refuseHeld } from '../../../src/cli/install/crd-in-use.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import type { KubeClient } from '../../../src/kube/types.ts';

const definition = (kind: string, plural: string): Definition => ({
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    names: { plural, kind },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true }],
  },
});
const DISKS = definition('Disk', 'disks');
const SHELVES = definition('Shelf', 'shelves');

/**
 * Returns the refusal.
 * @param kept objects as `namespace/name`, by the plural of their kind. A kind without an entry is
 * not served.
 */
async function refusal(
  kept: Record<string, string[]>,
  mine: string[] = [],
): Promise<string | undefined> {
  const list = async ({ plural }: Resource) => {
    if (kept[plural] === undefined)
      throw new ApiError({ apiVersion: 'v1', kind: 'Status' } as never, 404, 'GET');
    const items = kept[plural].map((id) => {
      const [namespace, name] = id.split('/');
      return { metadata: { namespace, name, uid: id } } as KubeObject;
    });
    return { items, metadata: { resourceVersion: '1' } };
  };
  const definitions = [DISKS, SHELVES].map((object) => ({
    resource: CUSTOM_RESOURCE_DEFINITIONS,
    object,
  }));
  const { signal } = new AbortController();
  const client = { list } as unknown as Pick<KubeClient, 'list'>;
  try {
    await refuseHeld(client, definitions, new Set(mine), signal);
    return undefined;
  } catch (error) {
    expect(error).toMatchObject({ code: 'conflict' });
    return (error as Error).message;
  }
}

test('CRDs without objects may be removed', async () => {
  expect(await refusal({})).toBeUndefined();
  expect(await refusal({ disks: [], shelves: [] })).toBeUndefined();
});

test('CRDs with objects are refused, and the error names some objects', async () => {
  expect(await refusal({ disks: ['a/2', 'a/1'], shelves: ['b/1'] })).toBe(
    'CRDs that have objects are not removed: there are 2 Disks (a/1, a/2) and 1 Shelf (b/1)',
  );
  const many = Array.from({ length: 7 }, (_, at) => `a/${at}`);
  expect(await refusal({ disks: many })).toContain('7 Disks (a/0, a/1, a/2, a/3, a/4, …)');
});

test('objects that Stowage created do not block the removal of their CRD', async () => {
  expect(await refusal({ disks: ['a/1'] }, ['a/1'])).toBeUndefined();
  expect(await refusal({ disks: ['a/1', 'a/2'] }, ['a/1'])).toContain('1 Disk (a/2)');
});
