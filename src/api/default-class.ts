import type { StorageClass } from './core.ts';
import { BETA_DEFAULT_CLASS_ANNOTATION, DEFAULT_CLASS_ANNOTATION } from './names.ts';

/** The annotations by which claims that name no class may get this one, as DefaultStorageClass reads them; none: they do not. */
export const defaultAnnotationsOf = ({ metadata: { annotations } }: StorageClass): string[] =>
  [DEFAULT_CLASS_ANNOTATION, BETA_DEFAULT_CLASS_ANNOTATION].filter(
    (name) => annotations?.[name] === 'true',
  );
