import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { allocatedBytes, partialOf, readFile, STAT } from '../loopfile/file.ts';
import { readSparse, sparseProbes } from '../loopfile/observe.ts';
import { answersOf, succeeded } from '../probe-results.ts';
import { ownBlkid, readable, readSignature } from '../signature.ts';
import { freezeRecord, snapshotFile } from './snapshot-path.ts';
import { readState, stateProbes } from './source.ts';
import type { DesiredSnapshot, ObservedSnapshot } from './types.ts';

/** Returns the probes for plans of a snapshot, which only read. */
export function snapshotProbes({ uid, volume }: Pick<DesiredSnapshot, 'uid' | 'volume'>): Probe[] {
  const copy = snapshotFile(volume, uid);
  return [
    ...sparseProbes(volume),
    ...stateProbes(volume.file, volume.file),
    { name: 'copy', argv: [...STAT, copy] },
    { name: 'copy signature', argv: ownBlkid(copy, 'export') },
    { name: 'copy readable', argv: readable(copy) },
    { name: 'copy partial', argv: [...STAT, partialOf(copy)] },
    { name: 'copy partial path', argv: ['readlink', '-m', '--', partialOf(copy)] },
    { name: 'copy freeze', argv: ['test', '-e', freezeRecord(uid)] },
  ];
}

/** @throws ObservationError if the node's state remains open: a missing tool, an I/O error */
export function readSnapshot(
  { uid, volume }: Pick<DesiredSnapshot, 'uid' | 'volume'>,
  results: ReadonlyMap<string, ProbeResult>,
): ObservedSnapshot {
  const get = answersOf(results);
  const sparse = readSparse(volume, results);
  const { realPath, file, signature } = sparse;
  const copyPath = snapshotFile(volume, uid);
  const copy = readFile(copyPath, get('copy'));
  return {
    volume: sparse,
    source: { realPath, file, signature, ...readState(get) },
    copy,
    signature:
      copy.type === 'file'
        ? readSignature(get('copy signature'), get('copy readable'))
        : { found: 'none' },
    partial: readFile(partialOf(copyPath), get('copy partial')),
    partialBytes: allocatedBytes(get('copy partial')),
    partialPath: succeeded('the path of the copy', get('copy partial path')),
    freezeIsLeft: get('copy freeze').exit === 0,
  };
}
