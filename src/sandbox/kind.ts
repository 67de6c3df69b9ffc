import type { KubeObject, Resource } from '../api/meta.ts';
import type { Cause } from './refusal.ts';

/** An object as it is stored: never changed in place, every write stores another one. */
export interface StoredObject extends KubeObject {
  [field: string]: unknown;
}

/** What the schema of a custom resource does to an object on its way in. */
export interface ObjectSchema {
  /** Removes what the schema does not know, in place; returns the paths: `spec.foo`. */
  prune(object: StoredObject): string[];
  /** Fills in defaults, in place. */
  fillDefaults(object: StoredObject): void;
  validate(object: StoredObject, old?: StoredObject): Cause[];
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
  schema?: ObjectSchema;
  /** Fields that every created object of a built-in kind gets. */
  prepare?(object: StoredObject): void;
  validate?(object: StoredObject): Cause[];
}
