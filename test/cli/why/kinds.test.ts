import { afterEach, expect, test } from '@jest/globals';
import { type ClaimsCluster, startClaimsCluster } from '../../support/claims-cluster.ts';
import { expectDiagnosis, type WhyOutput } from '../../support/why.ts';

/** A cluster that lacks the CRDs of some kinds. */

let cluster: ClaimsCluster | undefined;
const begin = async (without: string[]) => {
  cluster = await startClaimsCluster({ without });
};
afterEach(async () => {
  await cluster?.stop();
  cluster = undefined;
});

/** Runs a command line as printed. */
const run = async (line: string) => {
  const [program, ...argv] = line.split(' ');
  expect(program).toBe('stowage');
  return (await cluster?.stowage(argv)) ?? { code: -1, out: '', err: '' };
};
const why = async (what: string): Promise<WhyOutput> =>
  JSON.parse((await run(`stowage why ${what} -o json`)).out);

test.each<[string, string, string, string]>([
  ['Volume', 'volume a', 'crds', 'Volume a'],
  ['VolumeSnapshot', 'snapshot prod/b', 'snapshot-crds', 'VolumeSnapshot prod/b'],
])('CRDMissing: %s', async (kind, what, component, object) => {
  await begin([kind]);
  const said = await why(what);
  expectDiagnosis(said, 'CRDMissing', object);
  expect(said.fix?.run).toEqual([`stowage install --components ${component}`]);
  for (const line of said.fix?.run ?? []) expect((await run(line)).code).toBe(0);
  // Now the kind exists, but the object does not, which is a different error.
  expect(await run(`stowage why ${what}`)).toMatchObject({ code: 3 });
});
