import { adoption } from './adoption.ts';
import { attachOperations } from './attach-operations.ts';
import { attachdetach } from './attachdetach.ts';
import { cli } from './cli.ts';
import { jobs } from './jobs.ts';
import { kube } from './kube.ts';
import type { Mutation } from './mutation.ts';
import { nodes } from './nodes.ts';
import { population } from './population.ts';
import { provisioning } from './provisioning.ts';
import { reasons } from './reasons.ts';
import { salt } from './salt.ts';
import { snapshots } from './snapshots.ts';
import { storageDirectories } from './storage-directories.ts';
import { storageFiles } from './storage-files.ts';
import { storageLinks } from './storage-links.ts';
import { storageLvm } from './storage-lvm.ts';
import { storageRaw } from './storage-raw.ts';
import { storageShared } from './storage-shared.ts';
import { ui } from './ui.ts';
import { volumes } from './volumes.ts';

/** All mutations, grouped by area. */
export const MUTATIONS: readonly Mutation[] = [
  ...nodes,
  ...jobs,
  ...storageRaw,
  ...storageFiles,
  ...storageDirectories,
  ...storageShared,
  ...storageLinks,
  ...storageLvm,
  ...adoption,
  ...volumes,
  ...provisioning,
  ...snapshots,
  ...population,
  ...kube,
  ...salt,
  ...cli,
  ...ui,
  ...attachdetach,
  ...attachOperations,
  ...reasons,
];
