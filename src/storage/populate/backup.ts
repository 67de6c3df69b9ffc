import { isFsType } from '../../api/file-systems.ts';
import { type Refused, refuse } from '../../api/reasons.ts';
import type { Probe, ProbeResult, Step } from '../../nodes/job.ts';
import { GPT_START } from '../gpt.ts';
import { readFile, STAT } from '../loopfile/file.ts';
import { volumeBytes } from '../loopfile/layout.ts';
import { answersOf, notUnderstood, ObservationError, optional } from '../probe-results.ts';
import { scriptArgv } from '../scripts/scripts.ts';
import { describeSignature, ownBlkid, readable, readSignature } from '../signature.ts';
import type { FileFacts, Signature } from '../types.ts';
import { shownSource, sourceInput, sourceWords } from './source-words.ts';

/** Desired archive of a snapshot. */
export interface DesiredBackup {
  uid: string;
  namespace?: string | undefined;
  /** The snapshot's file. */
  file: string;
  mode: 'Filesystem' | 'Block';
  /** URL, or path on the node, without spaces. */
  to: string;
  /** Value of the header Authorization. It is in no command and no log. */
  authorization?: string | undefined;
}

export interface ObservedBackup {
  file: FileFacts;
  /** Signature of the file; `none` if it is missing. */
  signature: Signature;
  /** Result that the script recorded once the archive was complete. */
  made: { bytes: number; sha256: string } | undefined;
}

export const backupProbes = ({ uid, file }: Pick<DesiredBackup, 'uid' | 'file'>): Probe[] => [
  { name: 'snapshot', argv: [...STAT, file] },
  { name: 'snapshot signature', argv: ownBlkid(file, 'export') },
  { name: 'snapshot readable', argv: readable(file) },
  madeProbe(uid),
];

/** Returns a probe of the script's result. */
export const madeProbe = (uid: string): Probe => ({
  name: 'backup',
  argv: ['cat', `/run/stowage/backups/${uid}`],
});

/**
 * Returns the script's result; undefined if there is none.
 * @throws ObservationError if it cannot be parsed
 */
export function readMade(results: ReadonlyMap<string, ProbeResult>): ObservedBackup['made'] {
  const output = optional('the result', answersOf(results)('backup'));
  if (output === undefined) return undefined;
  const [, bytes, sha256] = /^(\d{1,15}) ([0-9a-f]{64})$/.exec(output.trim()) ?? [];
  if (sha256 === undefined) throw new ObservationError(notUnderstood('the script', output));
  return { bytes: Number(bytes), sha256 };
}

/** @throws ObservationError for an answer that leaves open what is on the node */
export function readBackup(
  { file }: Pick<DesiredBackup, 'file'>,
  results: ReadonlyMap<string, ProbeResult>,
): ObservedBackup {
  const get = answersOf(results);
  const facts = readFile(file, get('snapshot'));
  return {
    file: facts,
    signature:
      facts.type === 'file'
        ? readSignature(get('snapshot signature'), get('snapshot readable'))
        : { found: 'none' },
    made: readMade(results),
  };
}

/** Returns a step that makes the backup, or why it is impossible. */
export function backupStep(
  { uid, namespace, file, mode, to, authorization }: DesiredBackup,
  observed: ObservedBackup,
): Step | Refused {
  const { signature } = observed;
  if (observed.file.type !== 'file') return refuse('SnapshotFileMissing', { file });
  const found = signature.found === 'one' ? signature.type : '';
  const isFiles = isFsType(found);
  if (mode === 'Filesystem' ? !isFiles : found !== 'gpt') {
    const wanted = mode === 'Block' ? 'a GPT' : 'a file system';
    return refuse('SnapshotFileDiffers', { file, wanted, found: describeSignature(signature) });
  }
  const words =
    mode === 'Block'
      ? ['block', String(GPT_START), String(volumeBytes(mode, observed.file.sizeBytes))]
      : [found, '0', '0'];
  return {
    name: `pack the snapshot and store it at ${shownSource(to)}`,
    argv: scriptArgv('stowage-backup', file, uid, ...words, sourceWords(to).argument),
    // Neither in arguments, which all processes on the node can see, nor in the output of a
    // failure.
    stdin: sourceInput({ namespace, authorization, source: to }),
    preconditions: [],
  };
}

/** Returns a step that cancels a running backup within a second. It has to run beside that job. */
export const cancelBackup = ({ uid }: Pick<DesiredBackup, 'uid'>): Step => ({
  name: 'cancel the backup',
  argv: scriptArgv('stowage-backup', 'cancel', uid),
  preconditions: [],
});

/**
 * Returns a step that removes all of a backup from the node, except an archive that was made there.
 */
export const leaveBackup = ({ uid, to }: Pick<DesiredBackup, 'uid' | 'to'>): Step => ({
  name: 'remove the remains of the backup',
  argv: scriptArgv('stowage-backup', 'leave', uid, sourceWords(to).argument),
  preconditions: [],
});
