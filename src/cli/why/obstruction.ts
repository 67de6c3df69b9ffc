import { JOBS } from '../../api/reasons/jobs.ts';
import { isComplete } from '../../api/reasons/template.ts';
import {
  actionOf,
  entryOf,
  messageOf,
  type Reason,
  type ReasonCode,
  readReason,
} from '../../api/reasons.ts';
import { withHint } from '../../nodes/job-text.ts';
import { commandLine } from '../lib/command-line.ts';
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

/**
 * Returns a recorded message without the action of its reason, which the printed fix repeats. The
 * message stays as recorded if the fix is another one, or if the reason is unknown to this version,
 * or lacks parameters. Messages of failed jobs have no action, and the whole output. Pure.
 * @param fix printed fix
 */
export function sentenceOf(
  message: string,
  found: Obstruction | undefined,
  fix: Fix | undefined,
): string {
  if (found === undefined || fix === undefined) return message;
  if (fix !== found.fix && !checksNode(fix, found.reason)) return message;
  return Object.hasOwn(JOBS, found.reason.code) ? message : withoutAction(message, found.reason);
}

/**
 * Returns the sentence of a reason for a message that consists of the sentence and the action, as
 * this version builds them. Any other message stays: a controller may have added a way out. Pure.
 */
export function withoutAction(message: string, reason: Reason): string {
  const sentence = messageOf(reason);
  const action = actionOf(reason);
  if (sentence === undefined || action === undefined) return message;
  // `explain` keeps a period at the end of the sentence.
  const built = [withHint(sentence, action), `${sentence}. ${action}`];
  return built.includes(message) ? sentence : message;
}

/** Reports whether a fix for an unreachable node includes its check, which the action names. */
const checksNode = ({ run = [] }: Fix, { code, parameters: { node = '' } }: Reason): boolean =>
  code === ('NodeUnreachable' satisfies ReasonCode) &&
  run.includes(commandLine('stowage', 'check', 'node', node));

/** Returns the sentence of a reason, or the message if this version cannot build it. Pure. */
export function bareSentence(message: string, reason: Reason): string {
  const entry = entryOf(reason);
  const isKnown = entry !== undefined && isComplete(entry.message, reason.parameters);
  return (isKnown ? messageOf(reason) : undefined) ?? message;
}
