import { expect, test } from '@jest/globals';
import type { KubeObject, Status } from '../../src/api/meta.ts';
import { ApiError } from '../../src/kube/errors.ts';
import { patchWithRetry } from '../../src/kube/retry.ts';
import { status, WIDGETS, widget } from '../support/fake-api.ts';

/** Creates a server whose object has `rivals` concurrent writes, each right before a patch. */
function server(rivals: number, refusal = status(409, 'Conflict')) {
  let version = 1;
  const patches: object[] = [];
  return {
    patches,
    async get<T extends KubeObject>() {
      return widget('a', version) as unknown as T;
    },
    async patch<T extends KubeObject>(_: unknown, __: string, patch: object) {
      patches.push(patch);
      if (patches.length <= rivals) {
        version += 1;
        throw new ApiError(refusal as Status, 409, 'PATCH');
      }
      return widget('a', version + 1) as unknown as T;
    },
  };
}

const compute = (object: KubeObject) => ({
  metadata: { labels: { seen: object.metadata.resourceVersion } },
  status: { x: 1 },
});

test.each([0, 1, 4])('patches the latest version after %i conflicts', async (conflicts) => {
  const client = server(conflicts);
  const result = await patchWithRetry(client, WIDGETS, 'a', compute);
  const version = String(conflicts + 1);
  expect(result.metadata.resourceVersion).toBe(String(conflicts + 2));
  expect(client.patches).toHaveLength(conflicts + 1);
  expect(client.patches.at(-1)).toEqual({
    metadata: { labels: { seen: version }, uid: 'uid-a', resourceVersion: version },
    status: { x: 1 },
  });
});

test('fails after five conflicts', async () => {
  const client = server(99);
  await expect(patchWithRetry(client, WIDGETS, 'a', compute)).rejects.toMatchObject({
    code: 'conflict',
  });
  expect(client.patches).toHaveLength(5);
});

test('sends nothing if there is nothing to change', async () => {
  const client = server(0);
  expect(await patchWithRetry(client, WIDGETS, 'a', () => undefined)).toEqual(widget('a', 1));
  expect(client.patches).toEqual([]);
});

test('other refusals are thrown at once', async () => {
  const client = server(99, status(409, 'AlreadyExists'));
  await expect(patchWithRetry(client, WIDGETS, 'a', compute)).rejects.toThrow('AlreadyExists');
  expect(client.patches).toHaveLength(1);
});
