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

/** An archive of a snapshot. */
export interface DesiredBackup {
  uid: string;
  namespace?: string | undefined;
  /** The snapshot's file. */
  file: string;
  mode: 'Filesystem' | 'Block';
  /** A URL, or a path on the node; one word. */
  to: string;
  /** What is sent as the header Authorization. It is in no command and no log. */
  authorization?: string | undefined;
}

export interface ObservedBackup {
  file: FileFacts;
  /** Of the file; `none` when it is missing. */
  signature: Signature;
  /** What the script said of the archive once that was whole. */
  made: { bytes: number; sha256: string } | undefined;
}

/** The commands that say what there is. They read only. */
export const backupProbes = ({ uid, file }: Pick<DesiredBackup, 'uid' | 'file'>): Probe[] => [
  { name: 'snapshot', argv: [...STAT, file] },
  { name: 'snapshot signature', argv: ownBlkid(file, 'export') },
  { name: 'snapshot readable', argv: readable(file) },
  madeProbe(uid),
];

/** The command that says what was made. */
export const madeProbe = (uid: string): Probe => ({
  name: 'backup',
  argv: ['cat', `/run/stowage/backups/${uid}`],
});

/** What the script said of the archive; undefined where there is none. @throws ObservationError for an answer that says neither */
export function readMade(results: ReadonlyMap<string, ProbeResult>): ObservedBackup['made'] {
  const said = optional('what was made', answersOf(results)('backup'));
  if (said === undefined) return undefined;
  const [, bytes, sha256] = /^(\d{1,15}) ([0-9a-f]{64})$/.exec(said.trim()) ?? [];
  if (sha256 === undefined) throw new ObservationError(notUnderstood('the script', said));
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

/** The step that makes it, or why there can be none. */
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
    name: `pack it and put it to ${shownSource(to)}`,
    argv: scriptArgv('stowage-backup', file, uid, ...words, sourceWords(to).argument),
    // Neither among arguments, which all on the node can see, nor in what a failure prints.
    stdin: sourceInput({ namespace, authorization, source: to }),
    preconditions: [],
  };
}

/** The step by which whoever is at it gives up, a second later. It has to run beside that job. */
export const cancelBackup = ({ uid }: Pick<DesiredBackup, 'uid'>): Step => ({
  name: 'end the backup',
  argv: scriptArgv('stowage-backup', 'cancel', uid),
  preconditions: [],
});

/** The step after which nothing of it is on the node but the archive, if that was made there. */
export const leaveBackup = ({ uid, to }: Pick<DesiredBackup, 'uid' | 'to'>): Step => ({
  name: 'remove what the backup left',
  argv: scriptArgv('stowage-backup', 'leave', uid, sourceWords(to).argument),
  preconditions: [],
});
