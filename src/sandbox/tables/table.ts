import type { KubeList } from '../../api/meta.ts';
import type { Column, Kind, StoredObject } from '../kind.ts';
import { badRequest } from '../refusal.ts';
import { builtinColumns, EVENT_COLUMNS } from './builtin.ts';
import { className } from './storage.ts';

/** Part of its object that a row carries beside the cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** Parses includeObject. Throws a 400. */
export function includeObject(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') || 'Metadata';
  if (value !== 'None' && value !== 'Metadata' && value !== 'Object')
    throw badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
    );
  return value;
}

const named = (cell: Column['cell']): Column => ({
  name: 'Name',
  type: 'string',
  format: 'name',
  cell,
});
const NAME = named(({ metadata }) => metadata.name);

function columnsOf({ kind, columns }: Kind): Column[] {
  if (columns !== undefined) return [NAME, ...columns];
  if (kind === 'Event') return [...EVENT_COLUMNS, { ...NAME, priority: 1 }];
  if (kind === 'StorageClass') return [named(className), ...builtinColumns(kind)];
  return [NAME, ...builtinColumns(kind)];
}

/** Returns a meta/v1 Table of objects of one kind; `now` is in ms since the epoch. */
export function tableOf(
  kind: Kind,
  objects: StoredObject[],
  metadata: KubeList<StoredObject>['metadata'],
  include: IncludeObject,
  now: number,
) {
  const columns = columnsOf(kind);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: metadata.continue === '' ? { resourceVersion: metadata.resourceVersion } : metadata,
    columnDefinitions: columns.map(({ cell: _, ...column }) => ({
      format: '',
      description: '',
      priority: 0,
      ...column,
    })),
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, now)),
      object: included(object, include),
    })),
  };
}

function included(object: StoredObject, include: IncludeObject) {
  if (include === 'Object') return object;
  if (include === 'None') return null;
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };
}
