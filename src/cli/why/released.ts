import type { PersistentVolume } from '../../api/core.ts';
import { commandLine } from '../lib/command-line.ts';
import type { Fix } from './types.ts';

/**
 * Returns what a Released PersistentVolume keeps, and how to use it again; undefined for others,
 * and for one that is deleted instead. Pure.
 */
export function released(pv: PersistentVolume): { why: string; fix: Fix } | undefined {
  const { metadata, spec, status } = pv;
  const { namespace, name: claim, uid } = spec.claimRef ?? {};
  const isKept =
    status?.phase === 'Released' &&
    spec.persistentVolumeReclaimPolicy !== 'Delete' &&
    metadata.deletionTimestamp === undefined;
  if (!isKept || uid === undefined) return undefined;
  const { name } = metadata;
  // By name only, the patch could take the data of a claim that is bound meanwhile.
  const patch = [
    ...(metadata.uid === undefined ? [] : [test('/metadata/uid', metadata.uid)]),
    test('/spec/claimRef/uid', uid),
    { op: 'remove', path: '/spec/claimRef' },
  ];
  return {
    why: `${name} is Released and keeps the data of claim ${namespace}/${claim}`,
    fix: {
      say: `To use ${name} again, clear its claimRef. The first claim that fits it, in any namespace, then gets its data.`,
      run: [
        commandLine('kubectl', 'patch', 'pv', name, '--type', 'json', '-p', JSON.stringify(patch)),
      ],
    },
  };
}

const test = (path: string, value: string) => ({ op: 'test', path, value });
