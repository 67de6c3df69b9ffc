import type { Volume } from '../../../api/volume.ts';
import { targetUidOf } from '../../../controllers/populator/objects.ts';
import { claimOf } from '../../../model/claim-volume.ts';
import { sizeText } from '../../../storage/registry.ts';
import { commandLine, recreate } from '../../lib/command-line.ts';
import { foundIn } from '../../lib/read-result.ts';
import type { Fix, VolumeFacts } from '../types.ts';
import { checkUid, claimFile, keepBound, ownClaim } from './own-claim.ts';
import type { FixContext } from './types.ts';

/** Size to fill in, where the required one is unknown. */
const SIZE = 'SIZE';

/**
 * Returns the fix for a volume that is too small. A retry would fail again: the fix changes the
 * size, or creates another volume. Returns undefined if the Volume is unknown.
 * @param needed smallest sufficient size, if known
 * @param instead another remedy for the same size, such as `a class with …`
 */
export function makeLarger(
  needed: string | undefined,
  instead: string | undefined,
  { volume, known }: FixContext,
): Fix | undefined {
  if (volume === undefined) return undefined;
  const { spec } = volume;
  const is = sizeText(spec);
  const alternative = instead === undefined ? '' : `, or with ${instead}`;
  if (is === undefined) {
    return {
      say: `Create the Volume again on a larger device${alternative}: correct volume.yaml before the last command.`,
      run: recreate(volume),
    };
  }
  const size = needed === undefined ? `more than ${is}` : `at least ${needed}`;
  const claim = claimOf(volume);
  if (claim === undefined) {
    return {
      say: `Increase the size to ${size}, which also retries the Volume.${instead === undefined ? '' : ` Or create it again with ${instead}.`}`,
      run: [commandLine('stowage', 'resize', 'volume', volume.metadata.name, needed ?? SIZE)],
    };
  }
  const again = `with ${size}${alternative}`;
  const target = targetUidOf(claim.name);
  const checked = ownClaim(
    volume,
    claim,
    known,
    target === undefined
      ? {
          replace: `delete it, and create it again ${again}`,
          create: `create the claim again ${again}`,
        }
      : {
          replace: `delete the claim with the UID ${target}, which it is for, and create that one again ${again}`,
        },
  );
  if ('instead' in checked) return checked.instead;
  if (target !== undefined) return enlargeTarget(volume, claim.name, target, again, known);
  const file = claimFile(claim.name);
  const ofClaim = ['-n', claim.namespace, 'pvc', claim.name];
  return {
    say: `Create the claim again ${again}: correct ${file} before the last command. ${checkUid(claim)} The claim then gets a new Volume.`,
    run: [
      `${commandLine('kubectl', 'get', ...ofClaim, '-o', 'yaml')} > ${file}`,
      commandLine('kubectl', 'delete', ...ofClaim),
      `kubectl create -f ${file}`,
    ],
  };
}

/**
 * Returns the fix for the claim that a prime claim is for: the populator would create the prime
 * claim again with the same size. The prime claim may name any claim: only one with the UID counts.
 */
function enlargeTarget(
  volume: Volume,
  prime: string,
  uid: string,
  again: string,
  known: VolumeFacts | undefined,
): Fix {
  const found = known?.target && foundIn(known.target);
  if (found?.metadata.uid !== uid) {
    return {
      say: `Delete the claim with the UID ${uid}, which ${prime} is for, and create it again ${again}. Before its deletion, check that it has no PersistentVolume.`,
    };
  }
  const { metadata, spec } = found;
  const claim = `claim ${metadata.namespace}/${metadata.name}`;
  if (spec.volumeName && spec.volumeName !== volume.metadata.name)
    return keepBound(volume, claim, spec.volumeName);
  return {
    say: `Delete ${claim}, which ${prime} is for, and create it again ${again}. Before its deletion, check that it has the UID ${uid}.`,
  };
}
