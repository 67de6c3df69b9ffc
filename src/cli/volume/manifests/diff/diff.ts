import { createHash } from 'node:crypto';
import type { KubeObject } from '../../../../api/meta.ts';
import type { KubeClient } from '../../../../kube/types.ts';
import { about, conclude } from '../../../lib/batch.ts';
import type { Io } from '../../../lib/io.ts';
import { asYaml } from '../../../lib/output/data.ts';
import { printable } from '../../../lib/output/printable.ts';
import { objectProblem } from '../create.ts';
import { readManifests } from '../objects.ts';
import { compare, type Pair } from './program.ts';
import { changeBy } from './wanted.ts';

/**
 * Runs `stowage diff -f FILE`: prints what the manifests would change, and returns whether they
 * would change anything. Does not call `connect` for invalid manifests. Throws a StowageError.
 */
export async function diff(
  files: readonly string[],
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<boolean> {
  const manifests = await readManifests(files, io, objectProblem);
  const client = await connect();
  const errors: unknown[] = [];
  const pairs: Pair[] = [];
  for (const manifest of manifests) {
    const { kind, metadata } = manifest;
    try {
      const { live, wanted, refusal } = await changeBy(manifest, client, io.signal);
      pairs.push({ name: fileName(manifest), live: live && asYaml(live), wanted: asYaml(wanted) });
      if (refusal !== undefined) {
        io.stderr.write(
          `note: ${printable(`the server refuses this change of ${kind} ${metadata.name}: ${refusal}`)}\n`,
        );
      }
    } catch (error) {
      errors.push(about(error, { kind, name: metadata.name }));
      if (io.signal.aborted) break;
    }
  }
  const { differ, text } = await compare(pairs, io);
  // Colors are those of the program. YAML has escaped control characters in the objects.
  io.stdout.write(text);
  conclude(errors, manifests.length, io);
  return differ;
}

/** Maximum length of a file name on Linux, in bytes; names of objects are ASCII. */
const LONGEST = 255;

/**
 * Returns a file name as in kubectl diff, with a shortened end if it is too long. The client
 * rejects names with a slash.
 */
function fileName({ apiVersion, kind, metadata }: KubeObject): string {
  const name = printable([apiVersion.replace('/', '.'), kind, '', metadata.name].join('.'));
  if (Buffer.byteLength(name) <= LONGEST) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.slice(0, LONGEST - digest.length - 1)}-${digest}`;
}
