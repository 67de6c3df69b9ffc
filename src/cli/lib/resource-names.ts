/** Names of kinds on the command line: the plural first, then the singular and other names. */
export const VOLUME_NAMES = ['volumes', 'volume', 'vol'] as const;
export const NODE_NAMES = ['nodes', 'node', 'no'] as const;
export const ATTACHMENT_NAMES = ['attachments', 'attachment', 'att'] as const;
export const POD_NAMES = ['pods', 'pod', 'po'] as const;
export const CLAIM_NAMES = ['persistentvolumeclaims', 'persistentvolumeclaim', 'pvc'] as const;
export const SNAPSHOT_NAMES = [
  'snapshots',
  'snapshot',
  'volumesnapshots',
  'volumesnapshot',
  'vs',
] as const;
export const GRANT_NAMES = [
  'grants',
  'grant',
  'referencegrants',
  'referencegrant',
  'refgrant',
] as const;
export const POPULATOR_NAMES = [
  'populators',
  'populator',
  'volumepopulators',
  'volumepopulator',
] as const;
export const BACKUP_NAMES = ['backups', 'backup'] as const;
