import { describe, expect, test } from '@jest/globals';
import { failureReason } from '../../src/nodes/failure-reason.ts';
import { describeFailure } from '../../src/nodes/job-text.ts';
import { publicFailure, withoutPaths } from '../../src/nodes/public-text.ts';

test.each([
  ['/data/x: file system full', '…: file system full'],
  ["mkfs.ext4: cannot open '/data/a b'", "mkfs.ext4: cannot open '… b'"],
  ['it is at /data/x, and (/data/y) too.', 'it is at …, and (…) too.'],
  ['leads to /data/x.', 'leads to ….'],
  [
    'https://a.example/x/y?... answered 1/2 and/or',
    'https://a.example/x/y?... answered 1/2 and/or',
  ],
  ['see /etc/stowage/sources.conf on this node', 'see /etc/stowage/sources.conf on this node'],
  ['file=/data/x', 'file=…'],
])('withoutPaths turns %j into %j', (text, told) => {
  expect(withoutPaths(text)).toBe(told);
});

test('withoutPaths keeps a path that the user named', () => {
  expect(withoutPaths('there is no /srv/a beside /srv/b', ['/srv/a'])).toBe(
    'there is no /srv/a beside …',
  );
});

describe('the public text of a failure', () => {
  const step = { name: 'detach /dev/loop3', command: "'losetup' '-d' '/dev/loop3'" };

  test('omits the command', () => {
    const output =
      'stowage-progress 1 2\nfirst\n/dev/loop3: busy\nstowage-waiting over\nstowage-progress 2 2\n';
    expect(publicFailure({ state: 'failed', step, exit: 1, output })).toBe(
      'the step "detach …" failed with status 1: …: busy',
    );
    expect(publicFailure({ state: 'raced', step, exit: 2, output: '' })).toMatch(
      /printed nothing$/,
    );
  });

  test('has the message of a program for file systems, not the facts after it', () => {
    const output =
      'resize2fs 1.47.0 (5-Feb-2023)\nresize2fs: Permission denied to resize filesystem\nold_desc_blocks = 1, new_desc_blocks = 1\n';
    const state = { state: 'failed', step, exit: 1, output } as const;
    expect(publicFailure(state)).toMatch(
      /status 1: resize2fs: Permission denied to resize filesystem$/,
    );
    expect(failureReason(state)?.parameters.output).toBe(
      'resize2fs: Permission denied to resize filesystem',
    );
  });

  test('omits output that scripts print for programs', () => {
    const output = 'stowage-missing xz\nthis node has no program xz, which it takes\n';
    const state = { state: 'failed', step, exit: 3, output } as const;
    expect(publicFailure(state)).toMatch(/status 3: this node has no program xz, which it takes$/);
    expect(describeFailure(state)).toMatch(
      / '[^']+': this node has no program xz, which it takes$/,
    );
    expect(publicFailure({ ...state, output: 'stowage-missing xz\n' })).toMatch(/printed nothing$/);
  });

  test('reports a dead job and a failed precondition without paths', () => {
    expect(publicFailure({ state: 'died' })).toBe(
      'the job ended without a result before its first step',
    );
    expect(
      publicFailure({ state: 'guarded', step, refusal: '/data/x is in use', output: '' }),
    ).toBe('… is in use (before the step "detach …")');
  });
});
