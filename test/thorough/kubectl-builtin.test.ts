import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Fields, isFields } from '../../src/sandbox/json.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { strategicMerge } from '../../src/sandbox/strategic/merge.ts';
import { type Shape, shapeOf } from '../../src/sandbox/strategic/shape.ts';
import { patches, pods } from '../sandbox/strategic/patches.ts';
import { clientMinor, kubectlIn } from '../support/kubectl.ts';

/**
 * Tests of stock kubectl that only the sandbox can run: its own merge of patches, and the limits of
 * its support.
 */

let sandbox: Sandbox;
const folder = mkdtempSync(join(tmpdir(), 'stowage-kubectl-'));
const { use, kubectl, expectOutput, applied } = kubectlIn(folder);

/** Debian 12's kubectl is 1.20: it explains by OpenAPI v2, which has no content here. */
const old = clientMinor() < 27;

afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(async () => {
  sandbox = await startSandbox({ crds: [] });
  use(sandbox);
});
afterEach(() => sandbox.stop());

const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'n1' } },
};
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default' },
  spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'x' }] },
};

describe('strategic merge patches', () => {
  /** Patches a file with kubectl, which has the API's Go types. */
  async function real(object: Fields, patch: Fields): Promise<Fields | 'refused'> {
    const file = join(folder, 'object.json');
    writeFileSync(file, JSON.stringify(object));
    const { out, exitCode } = await kubectl(
      `patch --local -f ${file} --type strategic -o json -p '${JSON.stringify(patch)}'`,
    );
    // The API server refuses or drops the directives that remain: its types have no such fields.
    if (exitCode !== 0 || out.includes('"$patch"')) return 'refused';
    return withoutRest(JSON.parse(out)) as Fields;
  }

  function withoutRest(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(withoutRest);
    if (!isFields(value)) return value;
    const entries = Object.entries(value).filter(
      ([key, child]) => key !== '$retainKeys' && child !== null,
    );
    return Object.fromEntries(entries.map(([key, child]) => [key, withoutRest(child)]));
  }

  function ours(object: Fields, patch: Fields): Fields | 'refused' {
    try {
      return JSON.parse(
        JSON.stringify(strategicMerge(object, patch, shapeOf(String(object.kind)))),
      );
    } catch {
      return 'refused';
    }
  }

  test('produce the same pods as kubectl', () =>
    fc.assert(
      fc.asyncProperty(pods, patches, async (object, patch) => {
        const named = { ...object, metadata: { ...(object.metadata as Fields), name: 'p' } };
        expect(ours(named, patch)).toEqual(await real(named, patch));
      }),
      { numRuns: 60 },
    ));

  /** Returns each list that is merged, with its path. */
  function merged(shape: Shape, path: string[] = []): [string[], Shape][] {
    const own: [string[], Shape][] = shape.mergeKey || shape.set ? [[path, shape]] : [];
    // Fields below an item are reached in the item of one key.
    return [
      ...own,
      ...Object.entries(shape.fields ?? {}).flatMap(([field, child]) =>
        merged(child, [...path, field]),
      ),
    ];
  }

  test.each([
    ['v1', 'Namespace'],
    ['v1', 'Node'],
    ['v1', 'Pod'],
    ['v1', 'PersistentVolumeClaim'],
    ['v1', 'ServiceAccount'],
    ['apps/v1', 'Deployment'],
  ])('merge the lists of %s %s that kubectl merges', async (apiVersion, kind) => {
    const at = (root: Shape, path: string[], list: unknown[]): Fields => {
      const [field = '', ...rest] = path;
      const shape = root.fields?.[field] ?? {};
      if (rest.length === 0) return { [field]: list };
      const below = at(shape, rest, list);
      return { [field]: shape.mergeKey ? [{ [shape.mergeKey]: 'same', ...below }] : below };
    };
    const root = shapeOf(kind);
    for (const [path, { mergeKey }] of merged(root)) {
      const item = (id: string) => (mergeKey ? { [mergeKey]: id } : id);
      const object = merge(
        { apiVersion, kind, metadata: { name: 'x' } },
        at(root, path, [item('a')]),
      );
      const patch = at(root, path, [item('b')]);
      const expected = await real(object, patch);
      expect(JSON.stringify(expected)).toMatch(/"a".*"b"|"b".*"a"/);
      expect([path, ours(object, patch)]).toEqual([path, expected]);
    }
  });

  const merge = (a: Fields, b: Fields): Fields => ({
    ...a,
    ...b,
    metadata: { ...(a.metadata as Fields), ...(b.metadata as Fields | undefined) },
  });
});

test('drain deletes the pods of a node without a kubelet at once', async () => {
  for (const object of [node, pod]) await applied(object);
  await expectOutput(
    'drain n1 --force --delete-emptydir-data',
    /pod\/p (deleted|evicted)\nnode\/n1 drained$/,
  );
  await expectOutput('get pods', /^No resources found/);
});

test('explains no fields of built-in kinds, and refuses unknown ones', async () => {
  if (!old) await expectOutput('explain pv', /does not carry the fields of built-in/);
  await expectOutput('create quota q', /the server could not find the requested resource/);
});
