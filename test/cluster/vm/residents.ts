import { expect } from '@jest/globals';
import type { Content } from '../../support/kinds.ts';
import type { Writer } from './node.ts';
import type { Kind } from './places.ts';
import type { Scene } from './scene.ts';

/** A volume that stays through what happens to its node, with data. */
export interface Resident {
  name: string;
  kind: Kind;
  content: Content;
  /** Where pods have it. */
  path: string;
}

/** Volumes on the first device of each kind, made at once and written. Those of other names are not there yet. */
export async function settle(
  scene: Scene,
  kinds: Readonly<Record<string, readonly [Kind, Content]>>,
): Promise<Resident[]> {
  const all = Object.entries(kinds);
  for (const [name, [kind, content]] of all) await scene.create(name, scene.placeOf(kind), content);
  const residents: Resident[] = [];
  for (const [name, [kind, content]] of all) {
    const { metadata, status } = await scene.ready(name, 'True');
    const path = `/dev/disk/by-id/stowage-${metadata.uid}`;
    expect(status).toMatchObject({ phase: 'Available', devicePath: path });
    await scene.node.write(content, path, `data of ${name}`);
    residents.push({ name, kind, content, path });
  }
  return residents;
}

/** Waits until each is on its path. @returns how long after `since` (ms since the epoch) each was there */
export async function back(
  scene: Scene,
  residents: readonly Pick<Resident, 'name' | 'path'>[],
  since = Date.now(),
): Promise<string> {
  const took: string[] = [];
  for (const { name, path } of residents) {
    await scene.node.appears(path);
    took.push(`${name} ${((Date.now() - since) / 1000).toFixed(1)} s`);
  }
  return took.join(', ');
}

/** Each is Ready, and has what was written. */
export async function kept(scene: Scene, residents: readonly Resident[]): Promise<void> {
  for (const { name, content, path } of residents) {
    await scene.ready(name, 'True');
    // What the status says may be from before the node started anew.
    await scene.node.appears(path);
    expect(await scene.node.read(content, path)).toBe(`data of ${name}`);
  }
}

/**
 * Has programs write to those with a file system, until the node loses its power or reboots.
 * @returns what waits for their end then, and checks that all that they had synced is there
 */
export async function keepWriting(
  { node }: Scene,
  residents: readonly Resident[],
): Promise<() => Promise<void>> {
  const mounted = residents.filter(({ content }) => content !== 'Block');
  const writers: { path: string; writer: Writer }[] = [];
  for (const { name, path } of mounted) {
    writers.push({ path, writer: node.startWriter(await node.mount(path, name)) });
  }
  return async () => {
    for (const { path, writer } of writers) {
      const synced = await writer.ended();
      expect(await node.numbersOn(path)).toBeGreaterThanOrEqual(synced);
    }
  };
}
