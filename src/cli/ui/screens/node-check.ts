import type { CheckRow, NodeAccess, NodeCheck, Part } from '../../../ui/protocol.ts';
import { dataIn, failureIn, isData, listIn, notesIn, parsed } from '../command-data.ts';
import { publicLines, publicMessage, publicName } from '../public-text.ts';
import type { CommandResult } from '../run-command.ts';
import type { ReadAccess } from './read-access.ts';
import type { ReadRoute } from './read-route.ts';

/** Maximum checks that the page gets. */
const MOST_CHECKS = 1000;

/** Contacts a node, as `stowage get nodes` and `stowage check node` do. */
export async function checkNode(
  { name }: Pick<ReadRoute, 'name'>,
  { runOnNode, io }: Pick<ReadAccess, 'runOnNode' | 'io'>,
): Promise<NodeCheck> {
  const [got, checked] = await Promise.all([
    runOnNode(['get', 'nodes', name, '-o', 'json']),
    runOnNode(['check', 'node', name, '-o', 'json']),
  ]);
  return {
    access: part(got, nodeAccess),
    checks: part(checked, checkRows),
    at: new Date(io.clock.timeOfDay()).toISOString(),
    note: notesIn({ stderr: `${got.stderr}\n${checked.stderr}` }),
  };
}

/** Returns the data of a command, also of one that found problems, or why there is none. */
function part<T>(result: CommandResult, draw: (data: unknown) => T): Part<T> {
  const data = parsed(result.stdout);
  return isData(data) ? { found: draw(data) } : { missing: failureIn(result) };
}

/** Returns named fields of a node in `get nodes -o json`. Pure. */
export function nodeAccess(data: unknown): NodeAccess {
  const { transport, address, reachable, message, free } = dataIn(data);
  const { directory, bytes } = dataIn(free);
  return {
    transport: publicName(transport),
    address: publicName(address),
    reachable: reachable === true,
    directory: publicName(directory),
    freeBytes: typeof bytes === 'number' ? bytes : 0,
    message: publicMessage(message),
  };
}

/** Returns named fields of `check node -o json`, problems first. Pure. */
export const checkRows = (data: unknown): CheckRow[] =>
  listIn(dataIn(data).checks)
    .map((each): CheckRow => {
      const { check, ok, message, hint, command } = dataIn(each);
      return {
        check: publicName(check),
        ok: ok === true,
        message: publicMessage(message),
        hint: publicMessage(hint),
        command: publicLines(command),
      };
    })
    .toSorted((a, b) => Number(a.ok) - Number(b.ok))
    .slice(0, MOST_CHECKS);
