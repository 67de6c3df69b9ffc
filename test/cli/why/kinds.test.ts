import { afterEach, expect, test } from '@jest/globals';
import { type ClaimsCluster, startClaimsCluster } from '../../support/claims-cluster.ts';
import { expectSaid, type Said } from '../../support/why.ts';

/** A cluster that lacks what objects are of. */

let cluster: ClaimsCluster | undefined;
const begin = async (without: string[]) => {
  cluster = await startClaimsCluster({ without });
};
afterEach(async () => {
  await cluster?.stop();
  cluster = undefined;
});

/** A command line as it was printed. */
const run = async (line: string) => {
  const [program, ...argv] = line.split(' ');
  expect(program).toBe('stowage');
  return (await cluster?.stowage(argv)) ?? { code: -1, out: '', err: '' };
};
const why = async (what: string): Promise<Said> =>
  JSON.parse((await run(`stowage why ${what} -o json`)).out);

test.each<[string, string, string, string]>([
  ['Volume', 'volume a', 'crds', 'Volume a'],
  ['VolumeSnapshot', 'snapshot prod/b', 'snapshot-crds', 'VolumeSnapshot prod/b'],
])('CRDMissing: %s', async (kind, what, component, object) => {
  await begin([kind]);
  const said = await why(what);
  expectSaid(said, 'CRDMissing', object);
  expect(said.fix?.run).toEqual([`stowage install --components ${component}`]);
  for (const line of said.fix?.run ?? []) expect((await run(line)).code).toBe(0);
  // There is no object yet, and that is another thing.
  expect(await run(`stowage why ${what}`)).toMatchObject({ code: 3 });
});
