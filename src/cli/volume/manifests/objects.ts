import { StowageError } from '../../../api/errors.ts';
import { apiVersionOf, type KubeObject, type Resource } from '../../../api/meta.ts';
import { STORAGE_CLASSES, VOLUMES } from '../../../api/resources.ts';
import type { Io } from '../../lib/io.ts';
import { refuse } from '../refuse-problems.ts';
import { type Document, documentsOf } from './documents.ts';
import { schemaProblem } from './schema.ts';
import { readSources } from './source.ts';

/** Kinds in the order of creation: a Volume without its class would fail. */
export const KINDS: readonly Resource[] = [STORAGE_CLASSES, VOLUMES];

/**
 * Reads the objects in files, grouped by kind. `problem` returns why an object is unusable. Throws
 * a StowageError `usage` that names every unusable object, or if there is no object.
 */
export async function readManifests(
  files: readonly string[],
  io: Io,
  problem: (object: KubeObject) => string | undefined = () => undefined,
): Promise<KubeObject[]> {
  const documents = (await readSources(files, io)).flatMap(documentsOf).flatMap(itemsOf);
  if (documents.length === 0)
    throw new StowageError('usage', `${files.join(', ')}: no object found`);
  const first = new Map<string, string>();
  const problems = documents.flatMap(({ where, value }) => {
    const found =
      kindProblem(value) ??
      twice(value as KubeObject, where, first) ??
      problem(value as KubeObject);
    return found === undefined ? [] : [`${where}: ${found}`];
  });
  refuse(problems);
  const objects = documents.map(({ value }) => value as KubeObject);
  return KINDS.flatMap(({ kind }) => objects.filter((object) => object.kind === kind));
}

/** Returns the items of a List, as `get -o yaml` prints it; any other document is its own item. */
function itemsOf(document: Document): Document[] {
  const { where, value } = document;
  const { apiVersion, kind, items } = fieldsOf(value);
  if (apiVersion !== 'v1' || kind !== 'List') return [document];
  if (!Array.isArray(items)) throw new StowageError('usage', `${where}: the List has no items`);
  return items.map((item, index) => ({ where: `${where}, item ${index + 1}`, value: item }));
}

function kindProblem(value: unknown): string | undefined {
  const { apiVersion, kind } = fieldsOf(value);
  if (typeof kind !== 'string' || typeof apiVersion !== 'string')
    return 'apiVersion or kind is missing';
  const known = KINDS.find(
    (resource) => resource.kind === kind && apiVersionOf(resource) === apiVersion,
  );
  if (known !== undefined) return schemaProblem(value, 'named');
  const wanted = KINDS.map((resource) => `${resource.kind} (${apiVersionOf(resource)})`);
  return `${kind} (${apiVersion}) is not supported, only ${wanted.join(' and ')}`;
}

function twice(
  { kind, metadata }: KubeObject,
  where: string,
  first: Map<string, string>,
): string | undefined {
  const name = `${kind} ${metadata.name}`;
  const before = first.get(name);
  if (before !== undefined) return `${name} is also in ${before}`;
  first.set(name, where);
  return undefined;
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
