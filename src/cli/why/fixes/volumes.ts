import type { VOLUMES } from '../../../api/reasons/volumes.ts';
import { commandLine, retry } from '../../lib/command-line.ts';
import type { Fixes } from './types.ts';

export const volumes: Fixes<typeof VOLUMES> = {
  PersistentVolumeExists: (_, { volume }) => ({
    say: `If the PersistentVolume ${volume?.metadata.name} is not needed, delete it, then retry the Volume. Otherwise, create the Volume under another name.`,
    ...(volume && {
      run: [commandLine('kubectl', 'delete', 'pv', volume.metadata.name), ...retry(volume)],
    }),
  }),
};
