import { apiVersionOf } from '../api/meta.ts';
import type { Kind } from './kind.ts';
import { resourceName } from './refusal.ts';

/** The kinds that are served now. One resource is served in one version. */
export class Kinds {
  readonly #byTable = new Map<string, Kind>();

  constructor(kinds: Kind[]) {
    for (const kind of kinds) this.register(kind);
  }

  register(kind: Kind): void {
    this.#byTable.set(resourceName(kind), kind);
  }

  unregister(table: string): void {
    this.#byTable.delete(table);
  }

  all(): Kind[] {
    return [...this.#byTable.values()];
  }

  /** By the name of the table in the store: `volumes.storage.metalk8s.scality.com`. */
  byTable(table: string): Kind | undefined {
    return this.#byTable.get(table);
  }

  byPath(group: string, version: string, plural: string): Kind | undefined {
    const kind = this.#byTable.get(group === '' ? plural : `${plural}.${group}`);
    return kind?.version === version ? kind : undefined;
  }

  byReference(reference: { apiVersion: string; kind: string }): Kind | undefined {
    return this.all().find(
      (kind) => kind.kind === reference.kind && apiVersionOf(kind) === reference.apiVersion,
    );
  }
}
