import type { Transport } from '../../../nodes/transport/transport.ts';

export const TRANSPORTS = ['ssh', 'salt', 'local'] as const satisfies readonly Transport[];

/** Flags for node access that a file can set too, by attribute name. */
export const NODE_SETTINGS = [
  'transport',
  'localNode',
  'sshConfig',
  'sshGuard',
  'saltUrl',
  'saltEauth',
  'saltUser',
  'saltSecretFile',
  'saltCaFile',
] as const;
