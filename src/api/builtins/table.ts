import type { KubeObject, Resource } from '../meta.ts';
import type { Builtin } from '../populator.ts';
import { ARCHIVES, archiveOptions } from './archive.ts';
import { BACKUPS, backupOptions } from './backup.ts';
import { IMAGES, imageOptions } from './image.ts';
import type { OptionsFound } from './source.ts';

/** A kind that Stowage brings, from which volumes are filled on their node. */
interface BuiltinKind {
  /** What it is registered for unless another kind is named. */
  resource: Resource;
  /**
   * What an object of it says, as the node is told; or why nothing is filled from it, yet or at all. Where `mode` is among them, only
   * claims of that mode are.
   */
  optionsOf(object: KubeObject): OptionsFound;
}

export const BUILTIN_KINDS: Readonly<Partial<Record<Builtin, BuiltinKind>>> = {
  Image: { resource: IMAGES, optionsOf: imageOptions },
  Archive: { resource: ARCHIVES, optionsOf: archiveOptions },
  Backup: { resource: BACKUPS, optionsOf: backupOptions },
};
