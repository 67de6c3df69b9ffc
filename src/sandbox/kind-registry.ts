import { apiVersionOf } from '../api/meta.ts';
import type { Kind } from './kind.ts';
import { resourceName } from './refusal.ts';

/** Kinds that are served at present. */
export class KindRegistry {
  /**
   * Served versions of each kind, by the name of its table. The first stands for all where the
   * version does not matter.
   */
  readonly #byTable = new Map<string, readonly [Kind, ...Kind[]]>();

  constructor(kinds: Kind[]) {
    for (const kind of kinds) this.register([kind]);
  }

  /** Registers versions of one kind. Its objects are in one table, and equal in all versions. */
  register(versions: readonly [Kind, ...Kind[]]): void {
    this.#byTable.set(resourceName(versions[0]), versions);
  }

  unregister(table: string): void {
    this.#byTable.delete(table);
  }

  /** Returns all kinds, each in all its versions. */
  all(): Kind[] {
    return [...this.#byTable.values()].flat();
  }

  /**
   * Returns a kind by the name of its table in the store: `volumes.storage.metalk8s.scality.com`.
   */
  byTable(table: string): Kind | undefined {
    return this.#byTable.get(table)?.[0];
  }

  byPath(group: string, version: string, plural: string): Kind | undefined {
    const versions = this.#byTable.get(group === '' ? plural : `${plural}.${group}`);
    return versions?.find((kind) => kind.version === version);
  }

  byReference(reference: { apiVersion: string; kind: string }): Kind | undefined {
    return this.all().find(
      (kind) => kind.kind === reference.kind && apiVersionOf(kind) === reference.apiVersion,
    );
  }
}
