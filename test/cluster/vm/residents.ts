import { expect } from '@jest/globals';
import type { Content } from '../../support/kinds.ts';
import type { Writer } from './node.ts';
import type { Kind } from './places.ts';
import type { Scene } from './scene.ts';

/** A volume with data that remains through faults of its node. */
export interface Resident {
  name: string;
  kind: Kind;
  content: Content;
  /** Path that pods use. */
  path: string;
}

/**
 * Creates volumes on the first device of each kind concurrently, and writes to them. Volumes of
 * these names must not exist.
 */
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

/** Waits until each path exists. @returns the times from `since` (ms since the epoch) until then */
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

/** Checks that each is Ready and has its data. */
export async function kept(scene: Scene, residents: readonly Resident[]): Promise<void> {
  for (const { name, content, path } of residents) {
    await scene.ready(name, 'True');
    // The status may predate the restart of the node.
    await scene.node.appears(path);
    expect(await scene.node.read(content, path)).toBe(`data of ${name}`);
  }
}

/**
 * Starts programs that write to the volumes with a file system, until the node loses its power or
 * reboots.
 * @returns a function that waits for their end, and checks that all synced data remains
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
