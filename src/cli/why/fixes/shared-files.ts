import type { SHARED_FILES } from '../../../api/reasons/shared-files.ts';
import { putRight } from './files.ts';
import type { Fixes } from './types.ts';

export const sharedFiles: Fixes<typeof SHARED_FILES> = {
  SharedMountMissing: putRight,
  SharedMountUnfit: putRight,
  OwnerUnreadable: putRight,
};
