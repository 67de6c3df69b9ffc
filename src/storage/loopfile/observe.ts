import { dirname } from 'node:path';
import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { fromHex, readUsage, usageProbes } from '../device-usage.ts';
import { directoryProbes, readDirectory } from '../directory/observe.ts';
import { kubeletProbe, readKubelet } from '../kubelet.ts';
import { contentLink, linkOf } from '../links.ts';
import { capabilitiesProbe, growsMounted } from '../linux-capabilities.ts';
import { answersOf, optional, succeeded } from '../probe-results.ts';
import { earlierProbe, readEarlier, readRecords, recordProbes } from '../records.ts';
import { ownBlkid, readable, readSignature } from '../signature.ts';
import { readSource, sourceProbes } from '../snapshot/source.ts';
import type { DesiredSparse, ObservedSparse } from '../types.ts';
import { adoptProbes, readEarlierFile } from './adopt.ts';
import { allocatedBytes, partialOf, readFile, STAT } from './file.ts';

type ProbedVolume = Pick<
  DesiredSparse,
  'uid' | 'name' | 'file' | 'mode' | 'kubeletRoot' | 'source' | 'once'
> &
  Partial<Pick<DesiredSparse, 'adopt' | 'recorded' | 'earlierLink'>>;

/** Returns read-only probes of everything that plans for a sparse file depend on. */
export function sparseProbes(desired: ProbedVolume): Probe[] {
  const { uid, file, source, adopt, recorded } = desired;
  return [
    { name: 'path', argv: ['readlink', '-m', '--', file] },
    { name: 'file', argv: [...STAT, file] },
    { name: 'partial', argv: [...STAT, partialOf(file)] },
    { name: 'free', argv: ['stat', '-f', '-c', '%a|%S', '--', dirname(file)] },
    { name: 'signature', argv: ownBlkid(file, 'export') },
    ...directoryProbes(dirname(file)),
    { name: 'readable', argv: readable(file) },
    ...recordProbes(uid),
    ...(desired.once ? [earlierProbe(desired.name)] : []),
    ...usageProbes(),
    kubeletProbe(desired),
    capabilitiesProbe,
    { name: 'link', argv: ['stat', '-L', '-c', '%t:%T', linkOf(desired)] },
    { name: 'content link', argv: ['stat', '-L', '-c', '%t:%T', contentLink(desired)] },
    { name: 'udev', argv: ['test', '-S', '/run/udev/control'] },
    ...(source === undefined ? [] : sourceProbes(source.file, file)),
    ...(adopt === undefined || recorded ? [] : adoptProbes(desired, adopt)),
  ];
}

/**
 * @throws ObservationError for an answer that leaves open what is on the node: a missing tool, an
 * I/O error
 */
export function readSparse(
  desired: ProbedVolume,
  results: ReadonlyMap<string, ProbeResult>,
): ObservedSparse {
  const { file, adopt, recorded } = desired;
  const get = answersOf(results);
  const users = readUsage(get);
  const fileFacts = readFile(file, get('file'));
  const link = optional('link', get('link'));
  const named = optional('content link', get('content link'));
  const realPath = succeeded('path', get('path'));
  return {
    type: 'sparse',
    realPath,
    file: fileFacts,
    partial: readFile(partialOf(file), get('partial')),
    signature:
      fileFacts.type === 'file'
        ? readSignature(get('signature'), get('readable'))
        : { found: 'none' },
    ...readRecords(get),
    ...(desired.once ? { earlier: readEarlier(desired.uid, get('earlier')) } : {}),
    ...users,
    link: link === undefined ? undefined : fromHex(link),
    ...(named === undefined ? {} : { contentLink: fromHex(named) }),
    udev: get('udev').exit === 0,
    kubeletFolders: readKubelet(desired, get('kubelet'), users),
    growsMounted: growsMounted(succeeded('capabilities', get('capabilities'))),
    space: {
      directory: dirname(file),
      freeBytes: readFree(get('free')),
      allocatedBytes: allocatedBytes(get('file')) + allocatedBytes(get('partial')),
    },
    directory: readDirectory(dirname(file), dirname(realPath), get),
    source: desired.source && readSource(desired.source.file, get),
    ...(adopt === undefined || recorded
      ? {}
      : { earlierFile: readEarlierFile(desired, adopt, get) }),
  };
}

/** Returns the free space; undefined if it is unknown, which blocks no plan. */
function readFree({ stdout }: ProbeResult): bigint | undefined {
  const [, blocks, size] = /^(\d+)\|(\d+)$/.exec(stdout.trim()) ?? [];
  return blocks === undefined || size === undefined ? undefined : BigInt(blocks) * BigInt(size);
}
