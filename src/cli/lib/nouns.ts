/** How a kind is called on the command line: kubectl's plural first, then what else it takes. */
export const VOLUME_NOUNS = ['volumes', 'volume', 'vol'] as const;
export const NODE_NOUNS = ['nodes', 'node', 'no'] as const;
export const ATTACHMENT_NOUNS = ['attachments', 'attachment', 'att'] as const;
export const POD_NOUNS = ['pods', 'pod', 'po'] as const;
export const CLAIM_NOUNS = ['persistentvolumeclaims', 'persistentvolumeclaim', 'pvc'] as const;
export const SNAPSHOT_NOUNS = [
  'snapshots',
  'snapshot',
  'volumesnapshots',
  'volumesnapshot',
  'vs',
] as const;
export const GRANT_NOUNS = [
  'grants',
  'grant',
  'referencegrants',
  'referencegrant',
  'refgrant',
] as const;
export const POPULATOR_NOUNS = [
  'populators',
  'populator',
  'volumepopulators',
  'volumepopulator',
] as const;
export const BACKUP_NOUNS = ['backups', 'backup'] as const;
