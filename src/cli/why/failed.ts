import { BUILTIN_KINDS } from '../../api/builtins/table.ts';
import { READY_REASON } from '../../api/names.ts';
import type { Volume } from '../../api/volume.ts';
import { claimOf } from '../../model/claim-volume.ts';
import { nodeOf } from '../../model/desired-volume.ts';
import { validateVolume } from '../../model/validate-volume.ts';
import { driverOfSpec } from '../../storage/registry.ts';
import { commandLine, patchSpec, recreate, retry } from '../lib/command-line.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { foundIn } from '../lib/read-result.ts';
import { failedPv } from './failed-pv.ts';
import { type Obstruction, obstruction } from './node-connectivity.ts';
import { refusedBy } from './refused.ts';
import { isStuck, nextAttempt, ownPv, sinceOf } from './state.ts';
import type { Cause, Fix, VolumeFacts } from './types.ts';

/** The consent that a refusal asks for, as it is written there: `overwrite: "<signature>"`, maybe without the colon. */
const CONSENT = /\boverwrite(?::| to|=)? ?("(?:[^"\\]|\\.)+")/;

/** Failed, until a person changes something. */
export const failed: Cause = (known) => {
  const { volume } = known;
  const ready = readyOf(volume);
  if (ready === undefined || !isStuck(volume)) return undefined;
  return {
    holdup: ready.message || ready.reason || 'it failed, and does not say why',
    ...sinceOf(ready),
    next: { when: 'when its spec is changed' },
    ...wrong(known, ready.reason, ready.message ?? ''),
  };
};

function wrong(known: VolumeFacts, reason: string | undefined, message: string): Obstruction {
  const { volume } = known;
  if (reason === READY_REASON.internalError && validateVolume(volume).length > 0) {
    return {
      cause: 'InvalidSpec',
      fix: {
        say: 'The spec cannot be made true. Correct it in the file before the Volume is created again.',
        run: recreate(volume),
      },
    };
  }
  const signature = consentIn(message);
  if (signature !== undefined) {
    return {
      cause: 'SignatureFound',
      fix: {
        say: `There is data ${driverOfSpec(volume.spec).overwritten?.(volume.spec) ?? 'on the device'}. If none of it is needed, consent to its loss: set spec.overwrite to ${JSON.stringify(signature)}.`,
        run: [patchSpec(volume, { overwrite: signature })],
      },
    };
  }
  const pv = foundIn(known.pv);
  if (message.includes('PersistentVolume') && pv !== undefined && ownPv(known) === undefined) {
    return {
      cause: 'NameTaken',
      fix: {
        say: `Delete the PersistentVolume ${pv.metadata.name} if nobody needs it, and have the Volume tried again; or create the Volume under another name.`,
        run: [commandLine('kubectl', 'delete', 'pv', pv.metadata.name), ...retry(volume)],
      },
    };
  }
  const found = refusedBy(volume, message) ?? obstruction(nodeOf(volume), message);
  if (found === undefined) {
    return {
      cause: 'Failed',
      fix: refill(volume) ?? {
        say: 'Put right what the message names, and have the Volume tried again.',
        run: retry(volume),
      },
    };
  }
  const { cause, fix } = found;
  return {
    cause,
    fix: {
      say: `${fix.say} Then have the Volume tried again.`,
      run: [...(fix.run ?? []), ...retry(volume)],
    },
  };
}

/**
 * Has a claim filled anew from a corrected source. The Volume keeps what the source said when it was made, so that to try that again
 * would fail the same way.
 */
function refill(volume: Volume): Fix | undefined {
  const populator = volume.spec.source?.populator;
  const claim = claimOf(volume);
  const kind = populator == null ? undefined : BUILTIN_KINDS[populator.builtin]?.resource;
  if (populator == null || claim === undefined || kind === undefined) return undefined;
  const source = ['-n', populator.namespace, `${kind.plural}.${kind.group}`, populator.name];
  const ofClaim = ['-n', claim.namespace, 'pvc', claim.name];
  return {
    say: `${kind.kind} ${populator.namespace}/${populator.name} cannot be changed: correct it in the file, and create it again. Then create the claim again, which gets a new Volume.`,
    run: [
      `${commandLine('kubectl', 'get', ...source, '-o', 'yaml')} > source.yaml`,
      `${commandLine('kubectl', 'get', ...ofClaim, '-o', 'yaml')} > claim.yaml`,
      commandLine('kubectl', 'delete', ...ofClaim),
      commandLine('kubectl', 'delete', ...source),
      'kubectl create -f source.yaml',
      'kubectl create -f claim.yaml',
    ],
  };
}

function consentIn(message: string): string | undefined {
  const quoted = CONSENT.exec(message)?.[1];
  try {
    return quoted === undefined ? undefined : String(JSON.parse(quoted));
  } catch {
    return undefined;
  }
}

/** What was Available once comes back by itself, once what is missing is back. */
export const unavailable: Cause = (known, now) => {
  const { volume } = known;
  const ready = readyOf(volume);
  if (ready?.reason !== READY_REASON.unavailableError) return undefined;
  const pv = ownPv(known);
  return {
    ...sinceOf(ready),
    ...((pv && failedPv(pv)) ?? {
      cause: refusedBy(volume, ready.message ?? '')?.cause ?? 'Unavailable',
      holdup: ready.message || 'it is not available, and does not say why',
      next: nextAttempt(volume, now) ?? { when: 'by itself: the node is looked at all the time' },
      fix: { say: 'Put right what the message names. Nothing is made anew in its place.' },
    }),
  };
};
