import { expect, test } from '@jest/globals';
import { BACKUPS, type Backup, backupOptions } from '../../src/api/builtins/backup.ts';
import { apiVersionOf } from '../../src/api/meta.ts';

const UID = '5f3a8c52-0c9e-4c36-a1cf-0f3f6f6f1a01';
const made = (to: Backup['spec']['to']): Backup => ({
  apiVersion: apiVersionOf(BACKUPS),
  kind: BACKUPS.kind,
  metadata: { name: 'b', uid: UID },
  spec: { claimName: 'data', to },
  status: { phase: 'Completed', volumeMode: 'Block', sha256: 'a'.repeat(64) },
});

test.each([
  [{ path: '/srv/b' }, { source: '/srv/b', backup: UID }],
  [{ url: 'https://a.example/b' }, { source: 'https://a.example/b' }],
])('backupOptions builds the populator options for a Backup to %j', (to, words) => {
  expect(backupOptions(made(to))).toEqual({
    options: { ...words, compression: 'zstd', sha256: 'a'.repeat(64), mode: 'Block' },
  });
});
