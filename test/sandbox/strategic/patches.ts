import fc from 'fast-check';
import type { Fields } from '../../../src/sandbox/json.ts';

/** Pods and patches with so few names and values that they often coincide. */

const name = fc.constantFrom('a', 'b', 'c', 'd');
const value = fc.constantFrom('x', 'y', 'z');
const unique = (item: fc.Arbitrary<Fields>, key: string) =>
  fc.uniqueArray(item, { maxLength: 4, selector: (one) => one[key] });
const set = fc.uniqueArray(name, { maxLength: 4 });
const some = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Fields>;

const env = fc.record({ name, value });
const container = fc
  .record(
    { name, image: value, env: unique(env, 'name'), command: set },
    { requiredKeys: ['name'] },
  )
  .map((one) => one as Fields);
const volume = fc.oneof(
  fc.record({ name, emptyDir: fc.constant({}) }),
  fc.record({ name, hostPath: fc.record({ path: value }) }),
) as fc.Arbitrary<Fields>;

export const pods: fc.Arbitrary<Fields> = fc.record({
  apiVersion: fc.constant('v1'),
  kind: fc.constant('Pod'),
  metadata: some({ finalizers: set, labels: fc.dictionary(name, value, { maxKeys: 3 }) }),
  spec: some({
    containers: unique(container, 'name'),
    volumes: unique(volume, 'name'),
    tolerations: unique(fc.record({ key: name }), 'key'),
    nodeSelector: fc.dictionary(name, value, { maxKeys: 3 }),
  }),
});

const deletion = (key: string) => name.map((id): Fields => ({ $patch: 'delete', [key]: id }));
const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 4 });
const map = fc.dictionary(name, nullable(value), { maxKeys: 3 });

const containerPatch = fc
  .record(
    {
      name,
      image: nullable(value),
      command: set,
      env: unique(fc.oneof(env, deletion('name')) as fc.Arbitrary<Fields>, 'name'),
    },
    { requiredKeys: ['name'] },
  )
  .map((one) => one as Fields);

const volumePatch = volume.chain((one) =>
  fc.constantFrom<Fields>(one, { ...one, $retainKeys: Object.keys(one) }),
);

/** Adds $setElementOrder with the items of the patch and others, in a random order. */
function ordered(items: fc.Arbitrary<Fields[]>, key: string): fc.Arbitrary<Fields> {
  return fc.tuple(items, set).map(([list, others]) => {
    const named = list.filter(({ $patch }) => $patch === undefined).map((item) => item[key]);
    const order = [...new Set([...named, ...others])].map((id) => ({ [key]: id }));
    return { list, order };
  });
}

/** Removes additions that are also deleted: kubectl applies both in no defined order. */
function consistent({ finalizers, ...metadata }: Fields): Fields {
  const deleted = metadata['$deleteFromPrimitiveList/finalizers'] as string[] | undefined;
  const added = (finalizers as string[] | undefined)?.filter((one) => !deleted?.includes(one));
  return added === undefined ? metadata : { ...metadata, finalizers: added };
}

export const patches: fc.Arbitrary<Fields> = fc
  .tuple(
    some({
      finalizers: set,
      '$deleteFromPrimitiveList/finalizers': set,
      labels: nullable(map),
    }),
    some({
      volumes: unique(fc.oneof(volumePatch, deletion('name')), 'name'),
      tolerations: unique(fc.record({ key: name }), 'key'),
      nodeSelector: fc.oneof(
        nullable(map),
        map.map((one) => ({ ...one, $patch: 'replace' })),
        fc.constant({ $patch: 'delete' }),
      ),
    }),
    unique(fc.oneof(containerPatch, deletion('name')), 'name'),
    fc.constantFrom('none', 'plain', 'ordered', 'replace'),
    ordered(unique(fc.oneof(containerPatch, deletion('name')), 'name'), 'name'),
  )
  .map(([metadata, spec, containers, how, { list, order }]) => ({
    metadata: consistent(metadata),
    spec: {
      ...spec,
      ...(how === 'plain' ? { containers } : {}),
      ...(how === 'replace' ? { containers: [...containers, { $patch: 'replace' }] } : {}),
      ...(how === 'ordered' ? { containers: list, '$setElementOrder/containers': order } : {}),
    },
  }));
