import { StowageError } from '../../api/errors.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import { PAUSED_ANNOTATION } from '../../api/names.ts';
import { isPaused } from '../../api/paused.ts';
import { NODES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { isNotFound } from '../../kube/errors.ts';
import { patchWithRetry } from '../../kube/retry.ts';
import type { KubeClient } from '../../kube/types.ts';
import { about, conclude } from '../lib/batch.ts';
import type { Io } from '../lib/io.ts';
import { type ChoiceWords, listChosen, requireOneWay } from '../lib/objects/choose.ts';
import { nameOf } from '../lib/objects/name.ts';
import { printChosen, printDone } from '../lib/objects/print.ts';
import { noteOtherPauses } from './other-pauses.ts';
import type { PausedKind, PauseFlags, PauseVerb } from './types.ts';
import { untilReported } from './wait-reported.ts';

interface Kind {
  resource: Resource;
  words: ChoiceWords;
}

const KINDS: Readonly<Record<PausedKind, Kind>> = {
  volume: { resource: VOLUMES, words: { noun: 'volume', all: 'Volumes', example: 'data1' } },
  node: { resource: NODES, words: { noun: 'node', all: 'nodes', example: 'n1' } },
};

/** Result of each verb, for an object that changes and for one that is in that state already. */
const DID = {
  pause: { changed: 'paused', unchanged: 'already paused' },
  resume: { changed: 'resumed', unchanged: 'not paused' },
} as const;

/**
 * Runs `stowage pause` or `stowage resume` for Volumes or Nodes. Calls `connect` only for correct
 * usage. Throws a StowageError.
 */
export async function pause(
  verb: PauseVerb,
  kind: PausedKind,
  names: readonly string[],
  flags: PauseFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  const { resource, words } = KINDS[kind];
  requireOneWay(verb, words, names, flags);
  const client = await connect();
  const isListed = names.length === 0;
  const chosen = isListed
    ? await listed(KINDS[kind], flags.selector, io, client)
    : names.map((name) => ({ name, uid: undefined }));
  let isNoted = verb !== 'pause';
  // Before the first change, so that a plan of the page shows it.
  const onChange = () => {
    if (!isNoted) io.stderr.write('note: jobs that run already continue to their end\n');
    isNoted = true;
  };
  const target = { verb, resource, isListed, onChange };
  const { unchanged, errors, ...set } = await setEach(target, chosen, io, client);
  let { done } = set;
  const didTo = ({ metadata: { name } }: KubeObject) =>
    DID[verb][unchanged.has(name) ? 'unchanged' : 'changed'];
  const others =
    verb === 'resume' && kind === 'volume'
      ? await noteOtherPauses(done as Volume[], io, client)
      : new Set<string>();
  if (flags.wait) {
    for (const object of done) io.stderr.write(`${nameOf(object)} ${didTo(object)}\n`);
    const waited = await untilReported(verb, done, others, flags.timeout, io, client);
    done = waited.done;
    errors.push(...waited.errors);
  }
  if (isListed) printChosen(done, didTo, flags.output, io);
  else printDone(done, names.length > 1, didTo, flags.output, io);
  conclude(errors, chosen.length, io);
}

/** Change of several objects. */
interface Target {
  verb: PauseVerb;
  resource: Resource;
  /** True if the objects were listed: those deleted since are ignored. */
  isListed: boolean;
  /** Called before each write. */
  onChange(): void;
}

interface Chosen {
  name: string;
  /** Undefined for an object that a user named, which may be any of that name. */
  uid: string | undefined;
}

async function listed(
  { resource, words }: Kind,
  selector: string | undefined,
  io: Io,
  client: KubeClient,
): Promise<Chosen[]> {
  const items = await listChosen(resource, selector, io, client);
  if (items.length === 0) io.stderr.write(`No ${words.all.toLowerCase()} found\n`);
  return items.map(({ metadata: { name, uid } }) => ({ name, uid }));
}

/**
 * Sets or removes the annotation of each object, independently of the others. `unchanged`: names of
 * those that need no change.
 */
async function setEach(
  target: Target,
  chosen: readonly Chosen[],
  io: Io,
  client: KubeClient,
): Promise<{ done: KubeObject[]; unchanged: ReadonlySet<string>; errors: unknown[] }> {
  const { resource, isListed } = target;
  const done: KubeObject[] = [];
  const unchanged = new Set<string>();
  const errors: unknown[] = [];
  for (const each of chosen) {
    try {
      const { object, isChanged } = await setPaused(target, each, io, client);
      done.push(object);
      if (!isChanged) unchanged.add(each.name);
    } catch (error) {
      if (io.signal.aborted) throw error;
      // Others may delete what was listed.
      if (isListed && isNotFound(error)) continue;
      errors.push(about(error, { kind: resource.kind, name: each.name }));
    }
  }
  return { done, unchanged, errors };
}

/**
 * Sets or removes the annotation of an object. Keeps the value of a pause, which may be its reason.
 * Throws a StowageError `conflict` if another object has taken the name.
 */
async function setPaused(
  { verb, resource, onChange }: Target,
  { name, uid }: Chosen,
  { signal }: Io,
  client: KubeClient,
): Promise<{ object: KubeObject; isChanged: boolean }> {
  let first = uid;
  let isChanged = false;
  const compute = (current: KubeObject) => {
    first ??= current.metadata.uid;
    if (current.metadata.uid !== first) {
      throw new StowageError(
        'conflict',
        `${resource.kind} ${name} was replaced by another one meanwhile`,
        { hint: `Check that it is the one to ${verb}, then repeat the command.` },
      );
    }
    isChanged = isPaused(current) !== (verb === 'pause');
    if (!isChanged) return undefined;
    onChange();
    const value = verb === 'pause' ? 'true' : null;
    return { metadata: { annotations: { [PAUSED_ANNOTATION]: value } } };
  };
  const object = await patchWithRetry(client, resource, name, compute, { signal });
  return { object, isChanged };
}
