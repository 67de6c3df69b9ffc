import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../src/api/volume.ts';
import { statusProblem } from '../../src/model/status-problem.ts';
import { deleted, given, outcome, prepared, status } from '../support/decisions.ts';
import { FILE, UID, volume } from '../support/volume-input.ts';

describe('a status that Stowage never wrote', () => {
  const rows: [string, Partial<typeof prepared>][] = [
    ['another file', { paths: ['/etc/shadow'] }],
    ['a path that leads elsewhere', { paths: [`/var/lib/../../etc/${UID}`] }],
    ['a relative path', { paths: [UID] }],
    ['two files', { paths: [FILE, '/etc/shadow'] }],
    ['no file', { paths: [] }],
    ['a node name that is an option', { node: '-oProxyCommand=id' }],
  ];
  const { sparseLoopDevice: _, ...rest } = volume().spec;
  const lvm: Volume['spec'] = { ...rest, lvmLogicalVolume: { vgName: 'vg0', size: '1Gi' } };
  const onLvm: [string, string, boolean][] = [
    ['the logical volume of its name', '/dev/vg0/data1', true],
    ['another logical volume of the group', '/dev/vg0/data2', false],
    ['a logical volume of another group', '/dev/vg1/data1', false],
    ['a disk', '/dev/sda', false],
    ['a path that leads elsewhere', '/dev/vg0/../data1', false],
    ['a file', FILE, false],
  ];
  test.each(onLvm)('is detected on a Volume on LVM: %s', (_name, path, fine) => {
    const record = { ...prepared, paths: [path] };
    const made = volume(
      status('Available', 'PrepareVolume/DONE', ['True', 'x'], { prepared: record }),
    );
    expect(statusProblem({ ...made, spec: lvm }) === undefined).toBe(fine);
  });

  test.each(rows)('%s: makes the Volume Failed without an operation', (_, change) => {
    const record = { ...prepared, ...change };
    for (const metadata of [{}, deleted]) {
      for (const job of ['PrepareVolume/DONE', 'UnprepareVolume/1']) {
        expect(
          outcome(
            given(status('Available', job, ['True', 'x'], { prepared: record }), {
              metadata: metadata,
            }),
          ),
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
