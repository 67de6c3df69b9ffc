import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { stowage } from '../../../support/fake-io.ts';
import { TEST_SEED } from '../../../support/test-seed.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '$(reboot)',
    '../../etc',
    '--all',
    'a\u001b[2J',
    '1Gi',
    'n1',
    '/dev/sda',
    '__proto__',
  ),
);
const value = fc.oneof(text, fc.jsonValue(), fc.double(), fc.bigInt());
/** Picks mostly good values: a refusal for one field ends the check of the others. */
const mostly = (good: unknown, ...others: fc.Arbitrary<unknown>[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(good) }, ...others);
const object = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(fields, { requiredKeys: [] });
const volume = fc.record({
  apiVersion: fc.constant('storage.metalk8s.scality.com/v1alpha1'),
  kind: fc.constant('Volume'),
  metadata: mostly({ name: 'a' }, value, object({ name: value, labels: value })),
  spec: fc.oneof(
    value,
    object({
      nodeName: mostly('n1', value),
      storageClassName: mostly('c', value),
      mode: mostly(undefined, value),
      template: mostly(undefined, value),
      sparseLoopDevice: fc.oneof(value, object({ size: mostly('1Gi', value), directory: value })),
      rawBlockDevice: mostly(undefined, value, object({ devicePath: value })),
      overwrite: mostly(undefined, value),
      onDelete: mostly(undefined, value),
      source: mostly(undefined, value),
    }),
  ),
});
const storageClass = fc.record({
  apiVersion: fc.constant('storage.k8s.io/v1'),
  kind: fc.constant('StorageClass'),
  metadata: mostly({ name: 'c' }, value),
  provisioner: mostly('kubernetes.io/no-provisioner', value),
  parameters: fc.oneof(value, object({ fsType: value, mkfsOptions: value })),
  mountOptions: value,
});

/** Writes a bigint as a number, even if a double cannot represent it. */
const json = (manifest: unknown): string =>
  (
    JSON.stringify(manifest, (_key, item) =>
      typeof item === 'bigint' ? `bigint:${item}` : item,
    ) ?? ''
  ).replace(/"bigint:(-?[0-9]+)"/g, '$1');

const manifest = fc.oneof(volume, storageClass, value).map(json);
const run = (input: string) => stowage(['create', '-f', '-', '--dry-run=client'], { stdin: input });

test(`handles any manifest, and prints no control characters (seed ${TEST_SEED})`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        manifest,
        fc.array(manifest).map((all) => all.join('\n---\n')),
        text,
      ),
      async (input) => {
        const { code, err } = await run(input);
        expect([0, 2]).toContain(code);
        expect(err).not.toMatch(/[^\P{Cc}\n\t]/u);
        expect(err).not.toMatch(/Cannot read|is not a function|is not iterable|undefined \(/);
      },
    ),
    { seed: TEST_SEED, numRuns: 1000 },
  );
});
