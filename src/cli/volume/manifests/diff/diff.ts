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
 * `stowage diff -f FILE`: prints what the manifests would change, and returns whether they would. `connect` is not called
 * for manifests that are wrong. Throws a StowageError.
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
          `note: ${printable(`${kind} ${metadata.name} cannot be changed so: ${refusal}`)}\n`,
        );
      }
    } catch (error) {
      errors.push(about(error, { kind, name: metadata.name }));
      if (io.signal.aborted) break;
    }
  }
  const { differ, text } = await compare(pairs, io);
  // Colours of the program are its own. What of the objects would steer a terminal, YAML has escaped.
  io.stdout.write(text);
  conclude(errors, manifests.length, io);
  return differ;
}

/** The longest name of a file that Linux takes, in bytes; names of objects are ASCII. */
const LONGEST = 255;

/** As kubectl diff names them, the end of a name that is too long aside. Names with a slash were not taken by the client. */
function fileName({ apiVersion, kind, metadata }: KubeObject): string {
  const name = printable([apiVersion.replace('/', '.'), kind, '', metadata.name].join('.'));
  if (Buffer.byteLength(name) <= LONGEST) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.slice(0, LONGEST - digest.length - 1)}-${digest}`;
}
