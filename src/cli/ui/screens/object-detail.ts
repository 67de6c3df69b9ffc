import type { ObjectDetail } from '../../../ui/protocol.ts';
import { errorIn } from '../command-data.ts';
import { publicLines } from '../public-text.ts';
import type { RunCommand } from '../run-command.ts';
import { readWhy } from '../why-detail.ts';

/**
 * Reads an object as `stowage describe` and `stowage why` print it. Throws a StowageError if it
 * cannot be described; without an explanation, `why` has the reason.
 * @param object `KIND/NAME` or `KIND/NAMESPACE/NAME`, with valid names
 */
export async function readObject(object: string, run: RunCommand): Promise<ObjectDetail> {
  const [kind = '', ...name] = object.split('/');
  const [described, why] = await Promise.all([
    run(['describe', kind, name.join('/')]),
    readWhy(object, run),
  ]);
  if (described.exitCode !== 0) throw errorIn(described);
  return { why, description: { found: publicLines(described.stdout) } };
}
