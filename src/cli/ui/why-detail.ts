import type { BlockedGroup, BlockedObjects, Part, WhyDetail } from '../../ui/protocol.ts';
import { dataIn, failureIn, isData, listIn, notesIn, parsed } from './command-data.ts';
import { publicLines, publicMessage, publicName, publicTime } from './public-text.ts';
import type { RunCommand } from './run-command.ts';

/** Maximum objects of a group whose names are sent, and maximum groups. */
const MOST_OBJECTS = 50;
const MOST_GROUPS = 100;

/** Returns `KIND NAME` or `KIND NAMESPACE/NAME` of an object as `why` prints it. */
function linkText(link: unknown): { kind: string; name: string } {
  const { kind, namespace, name } = dataIn(link);
  const prefix = typeof namespace === 'string' ? `${namespace}/` : '';
  return { kind: publicName(kind), name: publicName(`${prefix}${String(name ?? '')}`) };
}

/** Returns named fields of what `why -o json` prints for an object or a group. Pure. */
export function whyDetail(data: unknown): WhyDetail {
  const { nothing, cause, holdup, since, nextTry, fix } = dataIn(data);
  const { say, command, yaml } = dataIn(fix);
  return {
    nothing: publicMessage(nothing),
    cause: publicName(cause),
    holdup: publicMessage(holdup),
    since: publicTime(since),
    nextTry: publicMessage(nextTry),
    fix: publicMessage(say),
    command: publicLines(command),
    manifest: publicLines(yaml),
  };
}

function groupDetail(data: unknown): BlockedGroup {
  const { root, objects } = dataIn(data);
  const all = listIn(objects);
  const { kind, name } = linkText(root);
  return {
    ...whyDetail(data),
    root: `${kind} ${name}`,
    objects: all.slice(0, MOST_OBJECTS).map(linkText),
    total: all.length,
  };
}

/**
 * Explains an object as `stowage why` does.
 * @param object `KIND/NAME` or `KIND/NAMESPACE/NAME`, with valid names
 */
export async function readWhy(object: string, run: RunCommand): Promise<Part<WhyDetail>> {
  const result = await run(['why', object, '-o', 'json']);
  const data = parsed(result.stdout);
  return isData(data) ? { found: whyDetail(data) } : { missing: failureIn(result) };
}

/**
 * Lists all that is blocked, as `stowage why --all` does. Throws an Error if the command prints no
 * data.
 */
export async function readBlocked(run: RunCommand, now: () => number): Promise<BlockedObjects> {
  const result = await run(['why', '--all', '-o', 'json']);
  const data = parsed(result.stdout);
  if (!isData(data)) throw new Error(failureIn(result));
  const groups = listIn(data.groups);
  return {
    groups: groups.slice(0, MOST_GROUPS).map(groupDetail),
    at: new Date(now()).toISOString(),
    note: notesIn(result),
  };
}
