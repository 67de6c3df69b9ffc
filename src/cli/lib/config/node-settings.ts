import type { Transport } from '../../../nodes/transport/transport.ts';

export const TRANSPORTS = ['ssh', 'salt', 'local'] as const satisfies readonly Transport[];

/** Flags of how nodes are reached which a file can say, too, by their names in what was parsed. */
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
