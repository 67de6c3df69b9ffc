import { actionOf, entryOf, type Reason, readReason } from '../../api/reasons.ts';
import { attachments } from './fixes/attachments.ts';
import { backups } from './fixes/backups.ts';
import { claims } from './fixes/claims.ts';
import { copies } from './fixes/copies.ts';
import { devices } from './fixes/devices.ts';
import { directories } from './fixes/directories.ts';
import { files } from './fixes/files.ts';
import { fills } from './fixes/fills.ts';
import { jobs } from './fixes/jobs.ts';
import { lvm } from './fixes/lvm.ts';
import { nodes } from './fixes/nodes.ts';
import { observations } from './fixes/observations.ts';
import { populators } from './fixes/populators.ts';
import { sharedFiles } from './fixes/shared-files.ts';
import { snapshots } from './fixes/snapshots.ts';
import type { FixContext } from './fixes/types.ts';
import { volumes } from './fixes/volumes.ts';
import type { Reason as Cause } from './reasons.ts';
import type { Fix } from './types.ts';

const FIXES: Partial<Record<string, FixOf>> = {
  ...attachments,
  ...backups,
  ...claims,
  ...copies,
  ...devices,
  ...directories,
  ...files,
  ...fills,
  ...jobs,
  ...lvm,
  ...nodes,
  ...observations,
  ...populators,
  ...sharedFiles,
  ...snapshots,
  ...volumes,
};

type FixOf = (parameters: Reason['parameters'], context: FixContext) => Fix | undefined;

/** Cause and fix of a reason. The cause is undefined if it is that of the operation in progress. */
export interface Obstruction {
  reason: Reason;
  cause: Cause | undefined;
  fix: Fix | undefined;
}

/**
 * Returns cause and fix of a reason in a status, which others may have written; undefined for an
 * unknown reason, as of another version. Pure.
 */
export function obstructionOf(value: unknown, context: FixContext): Obstruction | undefined {
  const detail = readReason(value);
  const entry = detail && entryOf(detail);
  if (detail === undefined || entry === undefined) return undefined;
  const say = actionOf(detail);
  const fix = FIXES[detail.code]?.(detail.parameters, context);
  return {
    reason: detail,
    cause: entry.cause as Cause | undefined,
    fix: fix ?? (say === undefined ? undefined : { say }),
  };
}
