import type { PersistentVolumeClaim } from '../../../api/core.ts';
import { isDnsSubdomain } from '../../../api/dns-name.ts';
import type { Volume } from '../../../api/volume.ts';
import type { claimOf } from '../../../model/claim-volume.ts';
import { commandLine } from '../../lib/command-line.ts';
import { ownPv } from '../state.ts';
import type { Fix, VolumeFacts } from '../types.ts';

/** Steps of a user for the claim of a failed Volume, as clauses that begin with a verb. */
interface Replacement {
  /** For the Volume's own claim. */
  replace: string;
  /** Once that claim is gone; unset if nothing remains to be done. */
  create?: string;
}

/**
 * Returns the claim that a Volume was created for, if its name still refers to it and it has no
 * other volume; else the fix that spares the claim of that name. kubectl deletes by name: a claim
 * recreated under that name would lose its data. Pure.
 */
export function ownClaim(
  volume: Volume,
  { namespace, name, uid }: NonNullable<ReturnType<typeof claimOf>>,
  known: VolumeFacts | undefined,
  { replace, create }: Replacement,
): { found: PersistentVolumeClaim } | { instead: Fix } {
  const claim = `claim ${namespace}/${name}`;
  const read = known?.templateClaim;
  if (known === undefined || read === undefined || 'forbidden' in read) return unread();
  if ('absent' in read) {
    const then = create === undefined ? '' : `, and ${create}`;
    return withoutClaim(`C${claim.slice(1)} no longer exists: delete the Volume${then}.`);
  }
  const { metadata, spec } = read.found;
  if (metadata.uid !== uid) {
    return withoutClaim(
      `The Volume was created for an earlier claim ${namespace}/${name}, with the UID ${uid}. Delete the Volume, and keep the claim that has this name now.`,
    );
  }
  if (spec.volumeName) {
    if ('forbidden' in known.pv) return unread();
    const isOwn = 'absent' in known.pv || ownPv(known) !== undefined;
    if (spec.volumeName !== volume.metadata.name || !isOwn)
      return { instead: keepBound(volume, claim, spec.volumeName) };
  }
  return { found: read.found };

  function unread(): { instead: Fix } {
    return {
      instead: {
        say: `Another ${claim} may exist by now: find out its UID and its PersistentVolume, which could not be read. If the UID is ${uid}, and the claim has no other PersistentVolume than ${volume.metadata.name}, ${replace}. Otherwise, keep the claim, and delete Volume ${volume.metadata.name}.`,
      },
    };
  }

  function withoutClaim(say: string): { instead: Fix } {
    return { instead: { say, run: deleteVolume(volume) } };
  }
}

/** Returns the fix for a claim that has another PersistentVolume, and so may have data. */
export const keepBound = (volume: Volume, claim: string, pv: string): Fix => ({
  say: `C${claim.slice(1)} is bound to another PersistentVolume, ${pv}. Delete the Volume, and keep the claim.`,
  run: deleteVolume(volume),
});

const deleteVolume = ({ metadata }: Volume): string[] => [
  commandLine('stowage', 'delete', 'volume', metadata.name),
];

/** Maximum length of a claim's name in the name of a file, which has 255 bytes at most. */
const LONGEST = 200;

/**
 * Returns the file to which commands write a claim: users have their own claim.yaml. The name may
 * come from a Volume's author: it must neither lead to another directory nor look like a flag.
 */
export const claimFile = (name: string): string =>
  isDnsSubdomain(name) && name.length <= LONGEST ? `${name}-claim.yaml` : 'copied-claim.yaml';

/** Returns the sentence for commands that write a claim to a file, then delete it by name. */
export const checkUid = ({ name, uid }: { name: string; uid: string }): string =>
  `Before its deletion, check that ${claimFile(name)} has the uid ${uid}: kubectl deletes any claim of that name.`;
