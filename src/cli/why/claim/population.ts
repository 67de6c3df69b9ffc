import type { AnyEvent } from '../../../api/core.ts';
import {
  POPULATE_FINALIZER,
  POPULATOR_EVENT,
  SELECTED_NODE_ANNOTATION,
} from '../../../api/names.ts';
import { kindText } from '../../../api/populator.ts';
import { sourceReference } from '../../../model/data-source/reference.ts';
import { commandLine } from '../../lib/command-line.ts';
import { isOwn } from '../../lib/objects/events.ts';
import { lastSeen } from '../../lib/objects/related.ts';
import { foundIn } from '../../lib/read-result.ts';
import { GATE_ON } from '../fixes/claims.ts';
import type { Reason } from '../reasons.ts';
import type { Blocker, Fix } from '../types.ts';
import { eventBlocker, eventCause, eventSentence, reasonIn } from './event.ts';
import type { ClaimFacts } from './facts.ts';
import { populating } from './populator-pod.ts';

/**
 * Reports why a populator has not filled a claim yet; undefined if the claim waits for something
 * else first. Pure.
 */
export function population(known: ClaimFacts): Blocker | undefined {
  const { claim, population: found } = known;
  const source = sourceReference(claim);
  if (found === undefined || source === undefined) return undefined;
  // A volume is being filled on its node, whatever is registered by now: its state is more precise.
  if (foundIn(known.volume)?.spec.source?.populator !== undefined) return undefined;
  const now = populating(known);
  if (now !== undefined) return now;
  const { namespace = '', name, creationTimestamp, uid, finalizers = [] } = claim.metadata;
  const what = `${source.kind} ${source.crossNamespace ? `${source.namespace}/` : ''}${source.name}`;
  const kind = kindText(source);
  const since = creationTimestamp === undefined ? {} : { since: creationTimestamp };
  const describe = commandLine('kubectl', 'describe', 'pvc', name, '-n', namespace);
  const { namespace: theirs = namespace } = source.crossNamespace ? source : { namespace };
  const edit = commandLine('kubectl', 'edit', kind, source.name, '-n', theirs);
  if (found.definitions.length === 0) {
    // A population in progress belongs to no other populator.
    const isRegistered = found.registered && !finalizers.includes(POPULATE_FINALIZER);
    return {
      cause: isRegistered ? 'ForeignPopulator' : 'KindNotRegistered',
      holdup: isRegistered
        ? `its data source ${what} of kind ${kind} is for another populator`
        : `its data source is ${what}, but no populator is registered for the kind ${kind}${versioned(source.group)}`,
      ...since,
      next: {
        when: isRegistered
          ? 'when that populator has filled a volume'
          : 'at once, when the kind is registered',
      },
      fix: isRegistered
        ? {
            say: 'Check that a populator of that kind runs, and the events of the claim.',
            run: ['stowage get populators', describe],
          }
        : {
            say: 'Correct the kind, or ask an administrator to install or register a populator for it:',
            run: [
              'stowage get populators',
              `${commandLine('stowage', 'register', 'populator', source.kind.toLowerCase(), '--group', source.group, '--kind', source.kind)} --image IMAGE --mount-path PATH`,
            ],
          },
    };
  }
  const last = foundIn(known.events)?.findLast(
    (event) => isOwn(event) && OURS.includes(event.reason ?? ''),
  );
  if (last?.type === 'Warning') {
    const cause = causeOf(last);
    const at = last.firstTimestamp ?? last.eventTime ?? lastSeen(last);
    return {
      cause,
      reason: reasonIn(last),
      holdup: cause === 'GateOff' ? eventSentence(last) : (last.message ?? ''),
      ...(at ? { since: at } : since),
      next: { when: 'at once, when an object that it waits for changes' },
      fix: cause === 'GateOff' ? GATE_ON : fixOf(known, last, what, [describe, edit]),
    };
  }
  const waits = foundIn(known.storageClass)?.volumeBindingMode === 'WaitForFirstConsumer';
  if (waits && claim.metadata.annotations?.[SELECTED_NODE_ANNOTATION] === undefined)
    return undefined;
  if (!finalizers.includes(POPULATE_FINALIZER)) return undefined;
  return {
    cause: 'Populating',
    holdup: `a volume is being filled for it from ${what}, by PopulatorDefinition ${found.definitions.join(', ')}`,
    ...since,
    next: { when: 'when the volume is filled' },
    fix: {
      say: "Check its claim and pod in the daemon's namespace.",
      run: [`kubectl get pvc,pods -A -l ${`stowage.dev/populates-uid=${uid}`}`],
    },
  };
}

const OURS: readonly string[] = Object.values(POPULATOR_EVENT).filter(
  (reason) => reason !== POPULATOR_EVENT.unrecognized,
);

/** Returns a hint at the most common mistake. */
const versioned = (group: string): string =>
  group.includes('/') ? ', whose group contains a version' : '';

function causeOf(event: AnyEvent): Reason {
  if (event.reason === POPULATOR_EVENT.sourceNotFound) return 'SourceMissing';
  return event.reason === POPULATOR_EVENT.sourceRefused
    ? eventCause(event, 'SourceRefused')
    : 'PopulationFailing';
}

function fixOf(known: ClaimFacts, event: AnyEvent, what: string, run: string[]): Fix {
  switch (event.reason) {
    case POPULATOR_EVENT.sourceNotFound:
      return {
        say: `Create ${what} in namespace ${known.claim.metadata.namespace}, or in the namespace that the claim names.`,
      };
    case POPULATOR_EVENT.failed:
      return {
        say: `Correct ${what}, or the PopulatorDefinition. A change of either triggers a retry.`,
        run,
      };
    default:
      return eventBlocker(known, event).fix;
  }
}
