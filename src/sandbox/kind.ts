import type { FeatureGates } from '../api/feature-gates.ts';
import type { KubeObject, Resource } from '../api/meta.ts';

/** An object as it is stored: never changed in place, every write stores another one. */
export interface StoredObject extends KubeObject {
  [field: string]: unknown;
}

/** What the schema of a custom resource does to an object on its way in. */
export interface ObjectSchema {
  /** As the CustomResourceDefinition has it. */
  definition: object;
  /** Removes what the schema does not know, in place; returns the paths: `spec.foo`. */
  prune(object: StoredObject): string[];
  /** Fills in defaults, in place. */
  fillDefaults(object: StoredObject): void;
  /** `before`: what is wrong already, beside the schema. */
  validate(object: StoredObject, old?: StoredObject, before?: Cause[]): Cause[];
}

/** A column of meta/v1 Table, as kubectl prints kinds. */
export interface Column {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  format?: string;
  description?: string;
  /** Above 0: shown with `-o wide` only. */
  priority?: number;
  /** `now` is in ms since the epoch. */
  cell(object: StoredObject, now: number): unknown;
}

/** A kind that the server serves. */
export interface Kind extends Resource {
  singular: string;
  shortNames: string[];
  categories: string[];
  /** Status is written through /status only. */
  statusSubresource: boolean;
  /** Custom resources count generations, must name a resourceVersion in an update, and have a schema. */
  custom: boolean;
  /** The built-in kinds that count generations, too. */
  generations?: true;
  /** What a deletion gives it, for a controller to work off. */
  deletionFinalizer?: string;
  /** What names may look like; absent: a DNS subdomain. */
  names?: 'label' | 'path';
  schema?: ObjectSchema;
  /** Of a custom resource, after the name. */
  columns?: Column[];
  /** What the decoding of a built-in kind fills in on every write, in place. Throws a 400. */
  fillDefaults?(object: StoredObject): void;
  /** Fields that every created object of a built-in kind gets. */
  prepare?(object: StoredObject, gates: FeatureGates): void;
  /** What becomes of a new state of an object of a built-in kind before it is validated, in place. Not of its status. */
  prepareUpdate?(object: StoredObject, old: StoredObject, gates: FeatureGates): void;
  validate?(object: StoredObject, old?: StoredObject): Cause[];
  /** What becomes of an object, in place, when it is to be deleted, and something holds it. Throws a 403. */
  onDelete?(object: StoredObject): void;
  /** What an admission plugin of the API server refuses. Throws a 403. */
  admit?(object: StoredObject, old: StoredObject | undefined, read: Reader): void;
}

/** Looks up a cluster-scoped object by its table and name. */
export type Reader = (table: string, name: string) => StoredObject | undefined;
/** One reason why an object is invalid. `text` is what follows the field: `Required value`. */

export interface Cause {
  field: string;
  reason: string;
  text: string;
}
