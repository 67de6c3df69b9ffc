import { uidOfName } from '../../../controllers/populator/objects.ts';
import { claimOf } from '../../../model/claim-volume.ts';
import { driverOfSpec, sizeText } from '../../../storage/registry.ts';
import { commandLine, patchSpec, recreate } from '../../lib/command-line.ts';
import type { Fix } from '../types.ts';
import { checkUid, ownClaim } from './own-claim.ts';
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
      run: [patchSpec(volume, { [driverOfSpec(spec).field]: { size: needed ?? SIZE } })],
    };
  }
  const again = `with ${size}${alternative}`;
  // The populator would create its prime claim again with the same size.
  if (uidOfName(claim.name) !== undefined) {
    return { say: `Delete the claim that ${claim.name} is for, and create it again ${again}.` };
  }
  const checked = ownClaim(volume, claim, known, {
    replace: `delete it, and create it again ${again}`,
    create: `create the claim again ${again}`,
  });
  if ('instead' in checked) return checked.instead;
  const ofClaim = ['-n', claim.namespace, 'pvc', claim.name];
  return {
    say: `Create the claim again ${again}: correct claim.yaml before the last command. ${checkUid(claim.uid)} The claim then gets a new Volume.`,
    run: [
      `${commandLine('kubectl', 'get', ...ofClaim, '-o', 'yaml')} > claim.yaml`,
      commandLine('kubectl', 'delete', ...ofClaim),
      'kubectl create -f claim.yaml',
    ],
  };
}
