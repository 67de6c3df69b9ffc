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
export const STORAGE_CLASS_NAMES = ['storageclasses', 'storageclass', 'sc'] as const;
export const SNAPSHOT_CLASS_NAMES = [
  'snapshotclasses',
  'snapshotclass',
  'volumesnapshotclasses',
  'volumesnapshotclass',
  'vsclass',
] as const;

const inGroup = (group: string, names: readonly string[]) => names.map((name) => [name, group]);

/** API groups by each name of their kinds. */
export const GROUPS: Readonly<Record<string, string>> = Object.fromEntries([
  ...inGroup('storage.metalk8s.scality.com', VOLUME_NAMES),
  ...inGroup('snapshot.storage.k8s.io', SNAPSHOT_NAMES),
  ...inGroup('snapshot.storage.k8s.io', SNAPSHOT_CLASS_NAMES),
  ...inGroup('storage.k8s.io', STORAGE_CLASS_NAMES),
  ...inGroup('gateway.networking.k8s.io', GRANT_NAMES),
  ...inGroup('populator.storage.k8s.io', ['volumepopulators', 'volumepopulator']),
  ...inGroup('stowage.dev', BACKUP_NAMES),
]);
