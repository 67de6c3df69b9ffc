import type { FeatureGates } from '../api/feature-gates.ts';
import type { KubeObject, Resource } from '../api/meta.ts';

/** Stored object: never changed in place; every write stores another one. */
export interface StoredObject extends KubeObject {
  [field: string]: unknown;
}

/** Operations of a custom resource's schema on incoming objects. */
export interface ObjectSchema {
  /** Schema in the CustomResourceDefinition. */
  definition: object;
  /** Removes fields that the schema does not know, in place; returns their paths: `spec.foo`. */
  prune(object: StoredObject): string[];
  /** Fills in defaults, in place. */
  fillDefaults(object: StoredObject): void;
  /** Validates an object. `before`: causes found outside the schema. */
  validate(object: StoredObject, old?: StoredObject, before?: Cause[]): Cause[];
}

/** Column of a meta/v1 Table, as kubectl prints it. */
export interface Column {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  format?: string;
  description?: string;
  /** Above 0: shown with `-o wide` only. */
  priority?: number;
  /** Returns the content of a cell. `now` is in ms since the epoch. */
  cell(object: StoredObject, now: number): unknown;
}

/** Kind that the server serves. */
export interface Kind extends Resource {
  singular: string;
  shortNames: string[];
  categories: string[];
  /** The status is written through /status only. */
  statusSubresource: boolean;
  /**
   * Custom resources count generations, require a resourceVersion in an update, and have a schema.
   */
  custom: boolean;
  /** Set for built-in kinds that count generations. */
  generations?: true;
  /** Finalizer that a deletion adds, for a controller to process. */
  deletionFinalizer?: string;
  /** Format of names; default: a DNS subdomain. */
  names?: 'label' | 'path';
  schema?: ObjectSchema;
  /** Columns of a custom resource, after the name. */
  columns?: Column[];
  /**
   * Fills defaults of a built-in kind when it is decoded, on every write, in place. Throws a 400.
   */
  fillDefaults?(object: StoredObject): void;
  /** Sets the initial fields of a created object of a built-in kind. */
  prepare?(object: StoredObject, gates: FeatureGates): void;
  /**
   * Changes a new state of a built-in kind's object before its validation, in
   * place. Not called for its status.
   */
  prepareUpdate?(object: StoredObject, old: StoredObject, gates: FeatureGates): void;
  validate?(object: StoredObject, old?: StoredObject): Cause[];
  /** Changes an object when its deletion begins and something holds it, in place. Throws a 403. */
  onDelete?(object: StoredObject): void;
  /** Refuses a write as the API server's admission plugins do. Throws a 403. */
  admit?(object: StoredObject, old: StoredObject | undefined, read: Reader): void;
}

/** Looks up a cluster-scoped object by its table and name. */
export type Reader = (table: string, name: string) => StoredObject | undefined;

/** Reason why an object is invalid. `text` follows the field: `Required value`. */
export interface Cause {
  field: string;
  reason: string;
  text: string;
}
