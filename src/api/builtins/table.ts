import type { KubeObject, Resource } from '../meta.ts';
import type { Builtin } from '../populator.ts';
import { ARCHIVES, archiveOptions } from './archive.ts';
import { BACKUPS, backupOptions } from './backup.ts';
import { IMAGES, imageOptions } from './image.ts';
import type { OptionsFound } from './source.ts';

/** Kind of Stowage from which volumes are filled on their node. */
interface BuiltinKind {
  /** Kind that it is registered for by default. */
  resource: Resource;
  /**
   * Returns the options of an object for the node, or why no volume is filled from it, now or ever.
   * An option `mode` restricts it to claims of that mode.
   */
  optionsOf(object: KubeObject): OptionsFound;
}

export const BUILTIN_KINDS: Readonly<Partial<Record<Builtin, BuiltinKind>>> = {
  Image: { resource: IMAGES, optionsOf: imageOptions },
  Archive: { resource: ARCHIVES, optionsOf: archiveOptions },
  Backup: { resource: BACKUPS, optionsOf: backupOptions },
};
