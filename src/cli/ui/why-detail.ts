import type { BlockedGroup, BlockedObjects, Part, WhyDetail } from '../../ui/protocol.ts';
import { publicLines, publicMessage, publicName, publicTime } from './public-text.ts';
import type { CommandResult, RunCommand } from './run-command.ts';

/** Maximum objects of a group whose names are sent, and maximum groups. */
const MOST_OBJECTS = 50;
const MOST_GROUPS = 100;

type Data = Readonly<Record<string, unknown>>;

const isData = (value: unknown): value is Data =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const dataIn = (value: unknown): Data => (isData(value) ? value : {});
const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

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

/** Returns what a command printed as JSON; undefined if it printed none. */
function parsed(stdout: string): unknown {
  try {
    return JSON.parse(stdout);
  } catch {
    return undefined;
  }
}

/** Returns the reason why a command printed no data. */
function failureIn({ stderr }: CommandResult): string {
  const data = dataIn(parsed(stderr.trim().split('\n').at(-1) ?? ''));
  const { error, message } = data;
  const text = [message, error, dataIn(error).message].find((each) => typeof each === 'string');
  return publicMessage(text ?? stderr.trim()) || 'the command printed nothing';
}

/** Explains a Volume as `stowage why` does. `name` is valid. */
export async function readWhy(name: string, run: RunCommand): Promise<Part<WhyDetail>> {
  const result = await run(['why', `volume/${name}`, '-o', 'json']);
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
  const notes = result.stderr.split('\n').filter((line) => line.startsWith('note: '));
  return {
    groups: groups.slice(0, MOST_GROUPS).map(groupDetail),
    at: new Date(now()).toISOString(),
    note: publicMessage(notes.map((line) => line.slice('note: '.length)).join('\n')),
  };
}
