import { apiVersionOf } from '../api/meta.ts';
import type { Kind } from './kind.ts';
import { resourceName } from './refusal.ts';

/** The kinds that are served now. */
export class KindRegistry {
  /** By the name of the table, all versions that are served; one first that stands for all where the version is no matter. */
  readonly #byTable = new Map<string, readonly [Kind, ...Kind[]]>();

  constructor(kinds: Kind[]) {
    for (const kind of kinds) this.register([kind]);
  }

  /** `versions`: of one kind. Its objects are in one table, and the same in all versions. */
  register(versions: readonly [Kind, ...Kind[]]): void {
    this.#byTable.set(resourceName(versions[0]), versions);
  }

  unregister(table: string): void {
    this.#byTable.delete(table);
  }

  /** Each in all its versions. */
  all(): Kind[] {
    return [...this.#byTable.values()].flat();
  }

  /** By the name of the table in the store: `volumes.storage.metalk8s.scality.com`. */
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
