import { BUILTIN_KINDS } from '../../api/builtins/table.ts';
import { READY_REASON } from '../../api/names.ts';
import type { ReasonCode } from '../../api/reasons.ts';
import type { Condition, Volume } from '../../api/volume.ts';
import { isPermanentFailure, recreateHint } from '../../controllers/volume/fill-progress.ts';
import { claimOf } from '../../model/claim-volume.ts';
import { validateVolume } from '../../model/validate-volume.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { commandLine, recreate, retry } from '../lib/command-line.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { failedPv } from './failed-pv.ts';
import { checkUid, claimFile, ownClaim } from './fixes/own-claim.ts';
import { bareSentence, type Obstruction, obstructionOf, sentenceOf } from './obstruction.ts';
import type { Reason as Cause } from './reasons.ts';
import { isStuck, nextAttempt, ownPv, sinceOf } from './state.ts';
import type { Blocker, Fix, Cause as VolumeCause, VolumeFacts } from './types.ts';

/** Reports a Volume that is Failed until a person changes something. */
export const failed: VolumeCause = (known) => {
  const { volume } = known;
  const ready = readyOf(volume);
  if (ready === undefined || !isStuck(volume)) return undefined;
  return {
    ...sinceOf(ready),
    next: { when: 'when it is retried, or its spec is changed' },
    ...wrong(known, ready),
  };
};

/** Causes and reasons whose fixes trigger another attempt by themselves, or make a new Volume. */
const RETRIED: readonly (Cause | undefined)[] = ['SignatureFound', 'NameTaken'];
const ENLARGED: readonly string[] = [
  'FileSystemTooSmall',
  'VolumeTooSmall',
] satisfies readonly ReasonCode[];

function wrong(
  known: VolumeFacts,
  { reason, detail, message }: Condition,
): Pick<Blocker, 'cause' | 'reason' | 'holdup' | 'fix'> {
  const { volume } = known;
  const recorded = message || reason || 'it failed, and no reason is recorded';
  if (reason === READY_REASON.internalError && validateVolume(volume).length > 0) {
    return {
      cause: 'InvalidSpec',
      holdup: recorded,
      fix: {
        say: 'Correct the invalid spec in volume.yaml before you create the Volume again.',
        run: recreate(volume),
      },
    };
  }
  const found = obstructionOf(detail, { node: nodeOf(volume), volume, known });
  return {
    cause: found === undefined ? 'UnknownReason' : (found.cause ?? 'Failed'),
    reason: found?.reason,
    // Refusals of a data source advise what the fix does.
    holdup:
      found !== undefined && isRefused(volume, found)
        ? bareSentence(recorded, found.reason)
        : sentenceOf(recorded, found, found?.fix),
    fix: fixOf(known, found),
  };
}

/** Reports whether a job failed permanently because of the Volume's data source. */
const isRefused = (volume: Volume, { reason: { parameters } }: Obstruction): boolean =>
  recreateHint(volume) !== '' && isPermanentFailure(volume, Number(parameters.exit));

/**
 * Returns the fix of a reason, followed by a retry if the fix triggers none. Without one, the
 * source of the Volume's data is the likely cause.
 */
function fixOf(known: VolumeFacts, found: Obstruction | undefined): Fix {
  const { volume } = known;
  if (found?.fix === undefined) {
    return (
      refill(known) ?? { say: 'Retry the Volume once the cause is fixed.', run: retry(volume) }
    );
  }
  const { fix, cause, reason } = found;
  if (RETRIED.includes(cause) || ENLARGED.includes(reason.code)) return fix;
  return {
    say: `${fix.say}${fix.say.endsWith('.') ? '' : '.'} Then retry the Volume.`,
    run: [...(fix.run ?? []), ...retry(volume)],
  };
}

/**
 * Returns the fix that fills a claim again from a corrected source. The Volume keeps the source's
 * settings from its creation: another attempt would fail in the same way.
 */
function refill(known: VolumeFacts): Fix | undefined {
  const { volume } = known;
  const populator = volume.spec.source?.populator;
  const claim = claimOf(volume);
  const kind = populator == null ? undefined : BUILTIN_KINDS[populator.builtin]?.resource;
  if (populator == null || claim === undefined || kind === undefined) return undefined;
  const source = ['-n', populator.namespace, `${kind.plural}.${kind.group}`, populator.name];
  const file = claimFile(claim.name);
  const ofClaim = ['-n', claim.namespace, 'pvc', claim.name];
  const what = `${kind.kind} ${populator.namespace}/${populator.name}`;
  const checked = ownClaim(volume, claim, known, {
    replace: `delete it and ${what}, which is immutable, and create both again, corrected`,
    create: `create the claim again after a corrected ${what}`,
  });
  if ('instead' in checked) return checked.instead;
  return {
    say: `${what} is immutable: correct it in source.yaml, and create it again. Then create the claim again, which gets a new Volume. ${checkUid(claim)}`,
    run: [
      `${commandLine('kubectl', 'get', ...source, '-o', 'yaml')} > source.yaml`,
      `${commandLine('kubectl', 'get', ...ofClaim, '-o', 'yaml')} > ${file}`,
      commandLine('kubectl', 'delete', ...ofClaim),
      commandLine('kubectl', 'delete', ...source),
      'kubectl create -f source.yaml',
      `kubectl create -f ${file}`,
    ],
  };
}

/** Reports a Volume that was Available before, and recovers once the missing part is back. */
export const unavailable: VolumeCause = (known, now) => {
  const { volume } = known;
  const ready = readyOf(volume);
  if (ready?.reason !== READY_REASON.unavailableError) return undefined;
  const pv = ownPv(known);
  const found = obstructionOf(ready.detail, { node: nodeOf(volume), volume });
  const otherwise = found === undefined ? 'UnknownReason' : 'Unavailable';
  return {
    ...sinceOf(ready),
    ...((pv && failedPv(pv)) ?? {
      cause: found?.cause ?? otherwise,
      reason: found?.reason,
      holdup:
        sentenceOf(ready.message ?? '', found, found?.fix) ||
        'it is not available, and no reason is recorded',
      next: nextAttempt(volume, now) ?? { when: 'automatically, at the next check of the node' },
      fix: {
        ...found?.fix,
        say: `${found?.fix?.say ?? 'Restore the missing part.'} Stowage creates no replacement.`,
      },
    }),
  };
};
