import type { StorageClass } from './core.ts';
import { BETA_DEFAULT_CLASS_ANNOTATION, DEFAULT_CLASS_ANNOTATION } from './names.ts';

/**
 * Returns the annotations that make a class a default one, as DefaultStorageClass
 * reads them; none if it is not.
 */
export const defaultAnnotationsOf = ({ metadata: { annotations } }: StorageClass): string[] =>
  [DEFAULT_CLASS_ANNOTATION, BETA_DEFAULT_CLASS_ANNOTATION].filter(
    (name) => annotations?.[name] === 'true',
  );
