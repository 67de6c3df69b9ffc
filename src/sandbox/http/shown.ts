import type { KubeList } from '../../api/meta.ts';
import type { StoredObject } from '../kind.ts';
import type { Cluster } from '../objects/cluster.ts';
import { includeObject, tableOf } from '../tables/table.ts';
import { type Form, notAcceptable } from './accept.ts';
import type { Target } from './target.ts';
import type { TableMaker } from './watch.ts';

/**
 * Returns the function that makes a table of objects; undefined if no
 * table is requested. Throws a 400.
 */
export function tableMaker(
  form: Form,
  { kind }: Target,
  query: URLSearchParams,
  { now }: Cluster,
): TableMaker | undefined {
  if (form === 'json' || form.as !== 'Table') return undefined;
  const include = includeObject(query);
  return (objects, metadata) => ({
    ...tableOf(kind, objects, metadata, include, now().getTime()),
    apiVersion: `meta.k8s.io/${form.version}`,
  });
}

/** Returns a list in the requested form. Throws a 406. */
export function shownList(form: Form, list: KubeList<StoredObject>): object {
  if (form === 'json') return list;
  if (form.as !== 'PartialObjectMetadataList')
    throw notAcceptable(`you requested ${form.as}, but the requested object is a list`);
  const { metadata, items } = list;
  const apiVersion = `meta.k8s.io/${form.version}`;
  return {
    kind: form.as,
    apiVersion,
    metadata,
    items: items.map((item) => partial(form.version, item)),
  };
}

/** Returns an object in the requested form. Throws a 406. */
export function shownObject(form: Form, object: StoredObject): object {
  if (form === 'json') return object;
  if (form.as !== 'PartialObjectMetadata')
    throw notAcceptable(`you requested ${form.as}, but the requested object is not a list`);
  return partial(form.version, object);
}

const partial = (version: string, { metadata }: StoredObject) => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${version}`,
  metadata,
});
