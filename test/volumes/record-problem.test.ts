import { describe, expect, test } from '@jest/globals';
import { deleted, outcome, prepared, status } from '../support/decisions.ts';
import { FILE, UID, volume } from '../support/volume-input.ts';

describe('A status that Stowage never wrote', () => {
  const rows: [string, Partial<typeof prepared>][] = [
    ['another file', { paths: ['/etc/shadow'] }],
    ['a path that leads elsewhere', { paths: [`/var/lib/../../etc/${UID}`] }],
    ['a relative path', { paths: [UID] }],
    ['two files', { paths: [FILE, '/etc/shadow'] }],
    ['no file', { paths: [] }],
    ['a node that is an option', { node: '-oProxyCommand=id' }],
  ];
  test.each(rows)('%s: nothing is done by it, whatever is asked', (_, change) => {
    const record = { ...prepared, ...change };
    for (const metadata of [{}, deleted]) {
      for (const job of ['PrepareVolume/DONE', 'UnprepareVolume/1']) {
        expect(
          outcome({
            volume: volume(status('Available', job, ['True', 'x'], { prepared: record }), metadata),
          }),
        ).toEqual([
          'Failed',
          job,
          'False',
          'UnavailableError',
          expect.stringContaining('status.prepared names'),
        ]);
      }
    }
  });
});
